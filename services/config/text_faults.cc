#include "services/config/text_faults.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/cli/utf8.h"
#include "services/config/limits.h"

namespace ingot {

namespace {

constexpr std::size_t kVersionDigitsMax = 6;  // of each number

bool is_number(const std::string& part) {
  return !part.empty() && part.size() <= kVersionDigitsMax && absl::c_all_of(part, absl::ascii_isdigit);
}

}  // namespace

std::string fault_in_instance_name(const std::string& text) {
  if (text.size() > kInstanceNameBytesMax) {
    return absl::StrCat("the name is too long: at most ", kInstanceNameBytesMax, " bytes");
  }
  if (is_printable_utf8(text) && text.find('/') == std::string::npos) return "";
  return absl::StrCat("'", text,
                      "' will not do; give a name of letters, digits and other printable characters, without '/'");
}

std::string fault_in_version(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '.');
  if (parts.size() == 3 && absl::c_all_of(parts, is_number)) return "";
  return absl::StrCat("'", text, "' is not a version; write three numbers, as in 3.4.23");
}

}  // namespace ingot
