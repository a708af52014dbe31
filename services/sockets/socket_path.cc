#include "services/sockets/socket_path.h"

#include <string_view>

#include "absl/strings/ascii.h"

namespace ingot::inline services_sockets {

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
