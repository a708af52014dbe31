#include "services/sockets/socket_path.h"

#include <cstdlib>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/config/limits.h"

namespace ingot::inline services_sockets {

namespace {

// Empty: the variable is not set, or names no absolute path.
std::string folder_of(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string all = value == nullptr ? "" : value;
  const std::string first = all.substr(0, all.find(':'));  // systemd names several with colons between them
  return absl::StartsWith(first, "/") ? first : "";
}

}  // namespace

std::vector<std::string> default_socket_paths(const std::string& instance) {
  const std::string service = folder_of("RUNTIME_DIRECTORY"), session = folder_of("XDG_RUNTIME_DIR");
  std::vector<std::string> folders;
  if (!service.empty()) folders.push_back(service);
  folders.push_back("/run/ingot");
  if (!session.empty()) folders.push_back(session + "/ingot");
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    std::string path = absl::StrCat(folder, "/", instance, ".sock");
    if (path.size() <= kSocketPathBytesMax) paths.push_back(std::move(path));
  }
  return paths;
}

std::string view_socket_path(const std::string& socket) {
  return std::string(absl::StripSuffix(socket, ".sock")) + ".view.sock";
}

std::string default_instance_name(int port) { return absl::StrCat("ingot-", port); }

std::string unix_target(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string target = "unix:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || std::string_view("/-._~").find(c) != std::string_view::npos) {
      target += c;
    } else {
      target += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return target;
}

}  // namespace ingot::services_sockets
