#include "services/ingotctl/render/screen.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/ingotctl/render/status.h"

namespace ingot {
namespace {

using std::chrono::steady_clock;

constexpr const char* kHomeAndClear = "\x1b[H\x1b[J";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kReverse = "\x1b[7m";
constexpr const char* kPlain = "\x1b[0m";
constexpr std::size_t kLinesBeforeReplicas = 2;  // the headline and the column titles of status_table

}  // namespace

bool StatusScreen::changed_lately(const control_v1::Replica& replica) {
  const std::string part = absl::StrCat(replica.state(), " ", replica.role(), " ", replica.incarnation());
  const auto now = steady_clock::now();
  const auto [it, first] = seen_.try_emplace(replica.id(), Seen{part, steady_clock::time_point()});
  Seen& seen = it->second;
  if (!first && seen.part != part) seen = Seen{part, now};
  return seen.changed_at != steady_clock::time_point() && now - seen.changed_at < kHighlight;
}

std::string StatusScreen::draw(const control_v1::GetStatusResponse& status) {
  const std::vector<std::string> lines = absl::StrSplit(status_table(status, false), '\n');
  std::string screen = kHomeAndClear;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t row = i - kLinesBeforeReplicas;  // wraps around, and so is too large, before the replicas
    const char* style = "";
    if (row < static_cast<std::size_t>(status.replicas_size())) {
      const control_v1::Replica& replica = status.replicas(static_cast<int>(row));
      const bool changed = changed_lately(replica);
      style = changed ? kReverse : replica.role() == control_v1::ROLE_LEADER ? kBold : "";
    }
    absl::StrAppend(&screen, style, lines[i], *style != '\0' ? kPlain : "", "\n");
  }
  history_.observe(status, RoleHistory::Clock::now());
  for (const std::string& line : history_.lines()) absl::StrAppend(&screen, line, "\n");
  return screen;
}

}  // namespace ingot
