// Random bytes from the kernel, for tags, ids and seeds that no other process may guess or draw again.
#pragma once

#include <sys/random.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/check.h"

namespace ingot::inline transport_host {

// At most 256 bytes, which the kernel gives at once. Thread-safe.
inline void draw_random(std::span<std::byte> bytes) {
  INGOT_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
              "the kernel's randomness is missing");
}

inline std::uint64_t draw_random_u64() {
  std::uint64_t drawn = 0;
  draw_random(std::as_writable_bytes(std::span(&drawn, 1)));
  return drawn;
}

}  // namespace ingot::transport_host
