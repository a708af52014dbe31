// A message whose bytes lie in two pieces of memory, to be sent as one.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "core/wire.h"

namespace ingot::inline core {

// The header and then the body, either may be empty. A view: both outlive it. A sender writes them into its channel one
// after the other, so that a header of its own and a body that others share are never joined in memory.
struct GatheredMessage {
  std::span<const std::byte> header{};
  std::span<const std::byte> body{};

  GatheredMessage() = default;
  GatheredMessage(std::span<const std::byte> first, std::span<const std::byte> second) : header(first), body(second) {}
  // Of bytes in one place.
  template <typename Bytes>
    requires std::convertible_to<const Bytes&, std::span<const std::byte>>
  GatheredMessage(const Bytes& bytes) : body(bytes) {}  // NOLINT: any bytes are a message

  std::size_t size() const { return header.size() + body.size(); }
  bool empty() const { return size() == 0; }
  // REQUIRES: !empty().
  std::byte front() const { return header.empty() ? body.front() : header.front(); }

  // `bytes` bytes from `offset` on. REQUIRES: they are there.
  GatheredMessage part(std::size_t offset, std::size_t bytes) const {
    const std::size_t of_header = offset < header.size() ? std::min(bytes, header.size() - offset) : 0;
    const std::size_t in_body = offset > header.size() ? offset - header.size() : 0;
    return {header.subspan(std::min(offset, header.size()), of_header), body.subspan(in_body, bytes - of_header)};
  }

  // REQUIRES: room for size() bytes.
  void copy_to(std::byte* out) const {
    if (!header.empty()) std::memcpy(out, header.data(), header.size());
    if (!body.empty()) std::memcpy(out + header.size(), body.data(), body.size());
  }

  // A copy in one piece.
  std::string joined() const {
    std::string bytes;
    bytes.reserve(size());
    bytes.append(as_view(header)).append(as_view(body));
    return bytes;
  }
};

}  // namespace ingot::core
