#include "services/config/text_faults.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/cli/endpoint.h"
#include "services/cli/utf8.h"
#include "services/config/limits.h"

namespace ingot::inline services_config {

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

std::string fault_in_socket_path(const std::string& text) {
  if (text.empty() || text == kAutomaticSocket) return "";
  if (text.size() > kSocketPathBytesMax) {
    return absl::StrCat("the path has ", text.size(), " bytes, and the kernel takes at most ", kSocketPathBytesMax,
                        " for a Unix socket");
  }
  if (text.front() == '/' && text.back() != '/' && is_printable_utf8(text)) return "";
  return absl::StrCat("'", text, "' will not do; give an absolute path, as in /run/ingot/a.sock, auto, or nothing");
}

std::string fault_in_socket_mode(const std::string& text) {
  const std::string digits = text.size() == 4 && text.front() == '0' ? text.substr(1) : text;
  const auto is_right = [](char digit) { return digit == '0' || digit == '2' || digit == '4' || digit == '6'; };
  if (digits.size() == 3 && absl::c_all_of(digits, is_right)) return "";
  return absl::StrCat("'", text, "' will not do; give rights to read and write as octal digits, as in 0660 or 0600");
}

std::string fault_in_client_urls(const std::string& text) {
  for (const absl::string_view each : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    absl::string_view address = each;
    if (absl::ConsumePrefix(&address, "unix:")) continue;
    if (absl::StartsWith(address, "https://")) {
      return absl::StrCat("'", each, "' needs TLS, which Ingot does not have; write http://HOST:PORT, and give clients "
                          "the address of what ends TLS in front of it");
    }
    const bool http = absl::ConsumePrefix(&address, "http://");
    absl::ConsumeSuffix(&address, "/");
    if (!http || !parse_host_port(std::string(address)).ok()) {
      return absl::StrCat("'", each, "' is no URL of clients; write http://HOST:PORT, as in http://192.0.2.7:2379");
    }
  }
  return "";
}

std::string fault_in_version(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '.');
  if (parts.size() == 3 && absl::c_all_of(parts, is_number)) return "";
  return absl::StrCat("'", text, "' is not a version; write three numbers, as in 3.6.0");
}

}  // namespace ingot::services_config
