#include "services/cli/endpoint.h"

#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ingot::inline services_cli {

absl::StatusOr<HostPort> parse_host_port(std::string_view text) {
  const std::string given(text);
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("'", given, "' is not an address; write HOST:PORT, as in 127.0.0.1:2379"));
  const std::size_t colon = given.rfind(':');
  if (colon == 0 && given.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("'", given, "' names no host; write 127.0.0.1", given,
                                                   ", or 0.0.0.0", given, " for all addresses of this machine"));
  }
  if (colon == std::string::npos) return wrong;

  HostPort result;
  const std::string port = given.substr(colon + 1);
  result.host = given.substr(0, colon);
  if (absl::StartsWith(result.host, "[") && absl::EndsWith(result.host, "]")) {
    result.host = result.host.substr(1, result.host.size() - 2);
  } else if (absl::StrContains(result.host, ":")) {
    return wrong;
  }
  const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  if (result.host.empty() || !digits || !absl::SimpleAtoi(port, &result.port) || result.port > 65535) return wrong;
  return result;
}

CLI::Validator host_port() {
  const auto check = [](const std::string& text) { return std::string(parse_host_port(text).status().message()); };
  return CLI::Validator(check, "HOST:PORT");
}

std::optional<std::string> unix_path(std::string_view endpoint) {
  constexpr std::string_view kUnix = "unix:";
  if (!endpoint.starts_with(kUnix)) return std::nullopt;
  return std::string(endpoint.substr(kUnix.size()));
}

CLI::Option* add_endpoint(CLI::App& app, std::string& endpoint) {
  const auto fault = [](const std::string& text) -> std::string {
    const auto path = unix_path(text);
    if (!path) return std::string(parse_host_port(text).status().message());
    constexpr std::size_t kPathBytesMax = sizeof sockaddr_un::sun_path - 1;
    if (path->starts_with('/') && path->size() <= kPathBytesMax) return "";
    return absl::StrCat("'", text, "' names no Unix socket; write unix:PATH with an absolute path of at most ",
                        kPathBytesMax, " bytes, as in unix:/run/ingot/ingot-2379.sock");
  };
  return app.add_option("--endpoint", endpoint, "Where the daemon listens")
      ->check(CLI::Validator(fault, ""))
      ->envname("INGOT_ENDPOINT")
      ->capture_default_str()
      ->type_name("HOST:PORT|unix:PATH");
}

}  // namespace ingot::services_cli
