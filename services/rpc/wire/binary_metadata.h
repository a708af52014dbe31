// Metadata whose name ends with "-bin": base64 on the wire.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot::rpc::inline wire {

bool is_binary_metadata(std::string_view name);

// Base64 without padding.
std::string encode_binary_metadata(std::string_view bytes);

// Accepts base64 with and without padding. Without value: something else. Decodes one value: values that are joined by
// commas have to be split before.
std::optional<std::string> decode_binary_metadata(std::string_view text);

}  // namespace ingot::rpc::wire
