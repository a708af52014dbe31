#include "services/cli/table.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/check.h"
#include "services/cli/terminal.h"

namespace ingot::inline services_cli {
namespace {

constexpr std::size_t kGap = 2;  // columns between two cells

std::string title_of(const Table::Column& column) { return absl::AsciiStrToUpper(column.title); }

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  INGOT_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::print_row(std::ostream& out, const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string padding(widths[c] - columns_of(cells[c]), ' ');
    if (c > 0) line.append(kGap, ' ');
    line += columns_[c].align == Align::kRight ? padding + cells[c] : cells[c] + padding;
  }
  absl::StripTrailingAsciiWhitespace(&line);
  out << line << '\n';
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_of(title_of(columns_[c]));
    for (const auto& row : rows_) width = std::max(width, columns_of(row[c]));
    widths.push_back(width);
  }
  return widths;
}

void Table::fit(std::size_t columns) {
  while (true) {
    std::size_t width = 0;
    for (const std::size_t cell : widths()) width += cell + (width > 0 ? kGap : 0);
    const auto last = std::max_element(columns_.begin(), columns_.end(),
                                       [](const Column& a, const Column& b) { return a.rank < b.rank; });
    if (width <= columns || last == columns_.end() || last->rank == 0) return;
    const auto at = last - columns_.begin();
    columns_.erase(last);
    for (auto& row : rows_) row.erase(row.begin() + at);
  }
}

void Table::print(std::ostream& out) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(title_of(column));
  const std::vector<std::size_t> widths = this->widths();
  print_row(out, titles, widths);
  for (const auto& row : rows_) print_row(out, row, widths);
}

std::string Table::str() const {
  std::ostringstream out;
  print(out);
  return out.str();
}

}  // namespace ingot::services_cli
