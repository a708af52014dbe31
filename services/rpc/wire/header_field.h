// A field of HTTP/2's header blocks, as nghttp2 takes it.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string_view>

namespace ingot::rpc::inline wire {

// Of text that stays where it is until the field is submitted; with flags NO_COPY_NAME or NO_COPY_VALUE until its frame
// is made. nghttp2 does not write to it, whatever its type says.
inline nghttp2_nv header_field(std::string_view name, std::string_view value,
                               std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  const auto unchanged = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {unchanged(name), unchanged(value), name.size(), value.size(), flags};
}

}  // namespace ingot::rpc::wire
