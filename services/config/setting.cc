#include "services/config/setting.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "services/cli/endpoint.h"

namespace ingot {

namespace settings {

Range address() {
  return {.fault = [](const std::string& text) { return std::string(parse_host_port(text).status().message()); },
          .checked = Checked::kByFlag,
          .form = "HOST:PORT"};
}

}  // namespace settings

std::string environment_name(const std::string& flag) {
  return "INGOT_" + absl::StrReplaceAll(absl::AsciiStrToUpper(absl::StripPrefix(flag, "--")), {{"-", "_"}});
}

}  // namespace ingot
