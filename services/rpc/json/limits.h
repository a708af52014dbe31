// Bounds of JSON that clients send, with their units.
#pragma once

#include <cstddef>

namespace ingot::rpc::inline json {

inline constexpr std::size_t kJsonDepthMax = 100;     // of objects and lists within one another
inline constexpr std::size_t kJsonWordBytesMax = 64;  // of a key, and of a number or a name in quotes

}  // namespace ingot::rpc::json
