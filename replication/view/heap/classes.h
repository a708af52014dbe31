// The sizes in which nodes are allocated: 48 to 128 bytes in steps of 16, then four to each doubling, and 1,152.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "replication/view/heap/layout.h"
#include "replication/view/heap/limits.h"

namespace ingot::inline replication_view_heap {

inline constexpr std::array<std::uint16_t, 27> kClassBytes = {48,   64,   80,   96,   112,  128,  160,  192,  224,
                                                              256,  320,  384,  448,  512,  640,  768,  896,  1024,
                                                              1152, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096};
inline constexpr std::size_t kClasses = kClassBytes.size();

inline constexpr std::size_t nodes_in_extent(std::size_t node_class) { return kExtentBytes / kClassBytes[node_class]; }

// By bytes / 16, rounded up: the least class with that many bytes.
inline constexpr auto kClassOfUnits = [] {
  std::array<std::uint8_t, kHeapNodeBytesMax / kHeapRefUnit + 1> classes{};
  for (std::size_t units = 0; units < classes.size(); ++units) {
    const auto* const least = std::lower_bound(kClassBytes.begin(), kClassBytes.end(), units * kHeapRefUnit);
    classes[units] = static_cast<std::uint8_t>(least - kClassBytes.begin());
  }
  return classes;
}();

// REQUIRES: bytes <= kHeapNodeBytesMax.
inline constexpr std::size_t class_of(std::size_t bytes) {
  return kClassOfUnits[(bytes + kHeapRefUnit - 1) / kHeapRefUnit];
}

// Byte `within` of an extent lies in that slot: a division, by multiplying.
inline constexpr auto kClassInverse = [] {
  std::array<std::uint64_t, kClasses> inverse{};
  for (std::size_t i = 0; i < kClasses; ++i) {
    inverse[i] = ((std::uint64_t{1} << 32) + kClassBytes[i] - 1) / kClassBytes[i];
  }
  return inverse;
}();
inline constexpr std::size_t slot_at(std::size_t node_class, std::uint64_t within) {
  return static_cast<std::size_t>(within * kClassInverse[node_class] >> 32);
}
static_assert([] {
  for (std::size_t i = 0; i < kClasses; ++i) {
    for (std::uint64_t slot = 0; slot < nodes_in_extent(i); ++slot) {
      const std::uint64_t begin = slot * kClassBytes[i];
      if (slot_at(i, begin) != slot || slot_at(i, begin + kClassBytes[i] - 1) != slot) return false;
    }
  }
  return true;
}());

static_assert(kClasses <= kEmptyList, "each class has a list of extents, and so have the empty ones");
static_assert(kClassBytes.back() == kHeapNodeBytesMax);
static_assert(nodes_in_extent(0) <= kBitmapWords * 64);
static_assert(class_of(128) == 5 && class_of(129) == 6 && class_of(0) == 0 && class_of(kHeapNodeBytesMax) == 26);

}  // namespace ingot::replication_view_heap
