#include "services/cli/table.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/check.h"

namespace ingot {
namespace {

// Characters of UTF-8 text: all bytes but continuation bytes.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  INGOT_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::print_row(std::ostream& out, const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string padding(widths[c] - width_of(cells[c]), ' ');
    if (c > 0) line += "  ";
    line += columns_[c].align == Align::kRight ? padding + cells[c] : cells[c] + padding;
  }
  absl::StripTrailingAsciiWhitespace(&line);
  out << line << '\n';
}

void Table::print(std::ostream& out) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(absl::AsciiStrToUpper(column.title));
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(titles[c]);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  print_row(out, titles, widths);
  for (const auto& row : rows_) print_row(out, row, widths);
}

std::string Table::str() const {
  std::ostringstream out;
  print(out);
  return out.str();
}

}  // namespace ingot
