#include "transport/host/instance_paths.h"

#include <cstdlib>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ingot::inline transport_host {

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
    if (path.size() <= kUnixPathBytesMax) paths.push_back(std::move(path));
  }
  return paths;
}

std::string view_socket_path(const std::string& socket) {
  return std::string(absl::StripSuffix(socket, ".sock")) + ".view.sock";
}

std::string default_instance_name(int port) { return absl::StrCat("ingot-", port); }

}  // namespace ingot::transport_host
