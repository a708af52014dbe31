// The messages of the transport tests: each receiver can identify them and check every byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/types.h"

namespace ingot::test {

// The n-th message from `from` to `to`. The head is cut if the message is shorter.
inline std::vector<std::byte> make_message(EndpointId from, EndpointId to, std::uint32_t n, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  std::uint32_t state = (from.value() * 257u + to.value()) * 65537u + n * 2654435761u + 1;
  for (std::byte& each : message) {
    state = state * 1664525u + 1013904223u;
    each = std::byte(state >> 24);
  }
  // The first bytes identify the message for failure reports.
  const std::uint8_t head[4] = {static_cast<std::uint8_t>(from.value()), static_cast<std::uint8_t>(n),
                                static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n >> 16)};
  std::memcpy(message.data(), head, std::min(sizeof head, bytes));
  return message;
}

// Empty if `message` is the n-th from `from` to `to`, of that size; otherwise a description of the difference.
inline std::string check_message(std::span<const std::byte> message, EndpointId from, EndpointId to, std::uint32_t n,
                                 std::size_t bytes) {
  const std::vector<std::byte> right = make_message(from, to, n, bytes);
  if (std::ranges::equal(message, right)) return "";
  std::string what = "message " + std::to_string(n) + " from " + std::to_string(from.value()) + " to " +
                     std::to_string(to.value()) + " of " + std::to_string(bytes) + " bytes came as one of " +
                     std::to_string(message.size()) + " bytes:";
  for (std::size_t i = 0; i < std::min<std::size_t>(message.size(), 4); ++i) {
    what += " " + std::to_string(std::to_integer<int>(message[i]));
  }
  return what;
}

}  // namespace ingot::test
