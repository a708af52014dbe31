#include "services/config/setting.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "services/cli/endpoint.h"
#include "services/config/text_faults.h"

namespace ingot::inline services_config {

namespace settings {

Range address() {
  return {.fault = [](const std::string& text) { return std::string(parse_host_port(text).status().message()); },
          .checked = Checked::kByFlag,
          .form = "HOST:PORT"};
}

Range instance_name() { return {.fault = fault_in_instance_name, .checked = Checked::kByFlag, .form = "NAME"}; }

Range version() { return {.fault = fault_in_version, .checked = Checked::kByFlag, .form = "N.N.N"}; }

Range client_urls() { return {.fault = fault_in_client_urls, .checked = Checked::kByFlag, .form = "URL,..."}; }

Range socket_path() { return {.fault = fault_in_socket_path, .checked = Checked::kByFlag, .form = "PATH"}; }

Range socket_mode() { return {.fault = fault_in_socket_mode, .checked = Checked::kByFlag, .form = "MODE"}; }

}  // namespace settings

std::string environment_name(const std::string& flag) {
  return "INGOT_" + absl::StrReplaceAll(absl::AsciiStrToUpper(absl::StripPrefix(flag, "--")), {{"-", "_"}});
}

}  // namespace ingot::services_config
