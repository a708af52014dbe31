// Tables in plain text: columns as wide as their widest cell, numbers aligned to the right.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace ingot::inline services_cli {

// Not thread-safe.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    int rank = 0;  // in fit(): 0 stays, others go, the greatest first
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell for each column. Cells are plain text without line breaks.
  void add_row(std::vector<std::string> cells);

  // Leaves out columns until lines have at most `columns` columns, or only those of rank 0 are left.
  void fit(std::size_t columns);

  // The titles in capitals, then the rows; two spaces between columns, none at a line's end.
  void print(std::ostream& out) const;
  std::string str() const;

 private:
  std::vector<std::size_t> widths() const;
  void print_row(std::ostream& out, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ingot::services_cli
