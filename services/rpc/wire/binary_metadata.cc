#include "services/rpc/wire/binary_metadata.h"

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace ingot::rpc::inline wire {

bool is_binary_metadata(std::string_view name) { return name.ends_with("-bin"); }

std::string encode_binary_metadata(std::string_view bytes) {
  std::string text = absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()));
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

std::optional<std::string> decode_binary_metadata(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::string_view(text.data(), text.size()), &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace ingot::rpc::wire
