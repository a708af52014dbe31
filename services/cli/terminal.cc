#include "services/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace ingot::inline services_cli {
namespace {

constexpr std::string_view kIndent = "  ";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool continues(char byte) { return (byte & 0xc0) == 0x80; }

// The bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    if (columns == 0) break;
    --columns;
  }
  return at;
}

}  // namespace

Terminal terminal_at(int fd) {
  Terminal terminal;
  if (::isatty(fd) != 1) return terminal;
  const std::string_view kind = variable("TERM");
  terminal.redraws = !kind.empty() && kind != "dumb";
  terminal.styles = terminal.redraws && variable("NO_COLOR").empty();
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  }
  return terminal;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::vector<std::string> wrap(std::string_view line, std::size_t columns) {
  const std::string_view indent = columns > 2 * kIndent.size() ? kIndent : "";
  std::vector<std::string> lines;
  for (bool first = true; first || !line.empty(); first = false) {
    const std::string_view before = first ? "" : indent;
    const std::size_t room = std::max<std::size_t>(columns - before.size(), 1);
    std::size_t bytes = bytes_of(line, room);
    if (bytes < line.size()) {  // the last space that this line has room for, or that follows it
      const std::size_t space = line.rfind(' ', bytes);
      if (space != std::string_view::npos && line.find_first_not_of(' ') < space) bytes = space;
    }
    std::string_view text = line.substr(0, bytes);
    line.remove_prefix(bytes);
    if (!line.empty()) text = text.substr(0, text.find_last_not_of(' ') + 1);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    lines.push_back(std::string(before).append(text));
  }
  return lines;
}

}  // namespace ingot::services_cli
