#include "services/ingotctl/render/screen.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/ingotctl/render/status.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kHomeAndClear = "\x1b[H\x1b[J";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kReverse = "\x1b[7m";
constexpr const char* kPlain = "\x1b[0m";
constexpr std::size_t kMarkColumns = 2;  // before each line of the table, without styles

Lines split(const std::string& text) { return absl::StrSplit(text, '\n', absl::SkipEmpty()); }

// Each line of a text, wrapped.
template <typename Container>
Lines wrapped(const Container& lines, const Terminal& terminal) {
  Lines all;
  for (const std::string& line : lines)
    for (std::string& part : wrap(line, terminal.columns)) all.push_back(std::move(part));
  return all;
}

// What fits of a line: of the table's, all if there is room for the columns that are never left out.
std::string cut(const std::string& line, std::size_t columns) {
  return wrap(line, std::max<std::size_t>(columns, 1))[0];
}

void append(Lines& lines, Lines more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

// The newest events of `history` that fit into `room` lines.
Lines latest(const RoleHistory& history, const Terminal& terminal, std::size_t room) {
  Lines lines;
  for (auto event = history.lines().rbegin(); event != history.lines().rend(); ++event) {
    Lines more = wrap(*event, terminal.columns);
    if (lines.size() + more.size() > room) break;
    lines.insert(lines.begin(), more.begin(), more.end());
  }
  return lines;
}

}  // namespace

bool StatusScreen::changed_lately(const control_v1::Replica& replica, Clock::time_point now) {
  const std::string part = absl::StrCat(replica.state(), " ", replica.role(), " ", replica.incarnation());
  const auto [it, first] = seen_.try_emplace(replica.id(), Seen{part, Clock::time_point()});
  Seen& seen = it->second;
  if (!first && seen.part != part) seen = Seen{part, now};
  return seen.changed_at != Clock::time_point() && now - seen.changed_at < kHighlight;
}

std::string StatusScreen::replica_line(const control_v1::Replica& replica, const std::string& text,
                                       const Terminal& terminal, Clock::time_point now) {
  const bool changed = changed_lately(replica, now);
  if (!terminal.styles) return cut(absl::StrCat(changed ? "* " : "  ", text), terminal.columns);
  const char* style = changed ? kReverse : replica.role() == control_v1::ROLE_LEADER ? kBold : "";
  return absl::StrCat(style, cut(text, terminal.columns), *style != '\0' ? kPlain : "");
}

Lines StatusScreen::page_of(Lines rows, std::size_t room, const Terminal& terminal, Clock::time_point now) {
  if (rows.size() <= room) return rows;
  const std::size_t page_rows = std::max<std::size_t>(room, 2) - 1;  // one line says which page it is
  const std::size_t pages = (rows.size() + page_rows - 1) / page_rows;
  if (now - turned_at_ >= kPageTime) {
    page_ = turned_at_ == Clock::time_point() ? 0 : page_ + 1;
    turned_at_ = now;
  }
  page_ %= pages;
  const std::size_t from = page_ * page_rows, to = std::min(from + page_rows, rows.size());
  Lines shown(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.begin() + static_cast<std::ptrdiff_t>(to));
  shown.push_back(cut(absl::StrCat("replicas ", from, " to ", to - 1, " of ", rows.size(), ", page ", page_ + 1, " of ",
                                   pages, ": each for ", kPageTime.count(), " s"),
                      terminal.columns));
  return shown;
}

std::string StatusScreen::draw(const control_v1::GetStatusResponse& status, const Terminal& terminal,
                               Clock::time_point now) {
  history_.observe(status, RoleHistory::Clock::now());
  const std::size_t mark = terminal.styles ? 0 : std::min(kMarkColumns, terminal.columns - 1);
  Lines table = split(replica_table(status, false, terminal.columns - mark));
  Lines rows;
  for (int i = 0; i < status.replicas_size(); ++i)
    rows.push_back(replica_line(status.replicas(i), table[static_cast<std::size_t>(i) + 1], terminal, now));

  Lines lines = wrapped(split(instance_line(status.instance())), terminal);
  lines.push_back(cut(std::string(mark, ' ') + table[0], terminal.columns));
  Lines notes = wrapped(split(status_notes(status)), terminal);
  const std::size_t space = std::max<std::size_t>(terminal.rows, 2) - 1;  // the cursor stays on the last row
  const auto left = [space](std::size_t taken) { return taken < space ? space - taken : 0; };
  const std::size_t fixed = lines.size() + notes.size();
  const std::size_t events_min = std::min(kEventsMin, latest(history_, terminal, kEventsMin).size());
  append(lines, page_of(std::move(rows), std::max<std::size_t>(left(fixed + events_min), 2), terminal, now));
  append(lines, std::move(notes));
  append(lines, latest(history_, terminal, left(lines.size())));
  if (lines.size() > space) lines.resize(space);
  return absl::StrCat(kHomeAndClear, absl::StrJoin(lines, "\n"), "\n");
}

}  // namespace ingot::services_ingotctl_render
