// Bounds of settings, and the bounds that hold whatever is set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

// Longest name of an instance, so that the names of its processes' sockets fit into sockaddr_un; longer ones are
// refused.
inline constexpr std::size_t kInstanceNameBytesMax = 90;

// Longest path of an instance's Unix socket, which sockaddr_un holds with a zero byte behind it; longer ones are refused.
inline constexpr std::size_t kSocketPathBytesMax = 107;

// The value of --socket that stands for the first default path that can be had.
inline constexpr const char* kAutomaticSocket = "auto";

// Stable segments of ended incarnations that are kept until a published snapshot holds what is in them. Beyond this
// number, or beyond --kept-segments-mib, writes wait until a snapshot is published; beyond half of either one is made
// soon. Each process has a descriptor of each segment, at its start two.
inline constexpr std::uint64_t kKeptSegmentsMax = 128;

}  // namespace ingot
