#include "services/cli/utf8.h"

#include "absl/strings/str_cat.h"

namespace ingot::inline services_cli {

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  const bool c1 = first == 0xc2 && character.size() == 2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return first < 0x20 || first == 0x7f || c1;
}

std::string hex_escaped(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    absl::StrAppend(&text, "\\x", absl::Hex(static_cast<unsigned char>(each), absl::kZeroPad2));
  }
  return text;
}

std::size_t utf8_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

bool is_printable_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0 || is_control(bytes.substr(0, length))) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
    if (character == "\n") {
      text += "\\n";
    } else if (character == "\t") {
      text += "\\t";
    } else if (character == "\\") {
      text += "\\\\";
    } else if (length == 0 || is_control(character)) {
      text += hex_escaped(character);
    } else {
      text += character;
    }
    bytes.remove_prefix(character.size());
  }
  return text;
}

}  // namespace ingot::services_cli
