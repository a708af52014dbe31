// What a program may write to the terminal that its output goes to. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::inline services_cli {

struct Terminal {
  bool redraws = false;  // a terminal that takes ANSI control sequences; not a file, a pipe, or one with TERM=dumb
  bool styles = false;   // redraws, and NO_COLOR is not set: bold and reverse video are wanted
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The terminal behind a file descriptor, with its present size. The environment variable TERM may be "dumb", or empty,
// which counts as dumb; NO_COLOR is in force if it is not empty (no-color.org).
Terminal terminal_at(int fd);

// The number of columns that UTF-8 text takes: one for each character.
std::size_t columns_of(std::string_view text);

// The words of one line in lines of at most `columns` columns (at least 1); all but the first begin with two spaces,
// where there is room for them. A word that is longer than a line is cut into pieces. Runs of spaces count as one where
// a line breaks, and stay elsewhere.
std::vector<std::string> wrap(std::string_view line, std::size_t columns);

}  // namespace ingot::services_cli
