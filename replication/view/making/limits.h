// Bounds of making generations, and what happens at them.
#pragma once

#include <cstdint>

#include "replication/view/generation/limits.h"

namespace ingot::inline replication_view_making {

// Changes of keys that no page has covered yet wait up to so many bytes, one for each key. Beyond the bound all of them
// are forgotten, and pages that are older than the newest of them are asked for again.
inline constexpr std::uint64_t kWaitingBytesMax = 16 * 1024 * 1024;

// A generation has twice the bytes of what lives in it, and never fewer than this: what a small one costs is bounded by
// the pages that are touched.
inline constexpr std::uint64_t kViewBytesMin = 16 * 1024 * 1024;
static_assert(kViewBytesMin >= kGenerationBytesMin);

// When less than this share of a generation lives, a smaller one takes its place, unless it has kViewBytesMin.
inline constexpr std::uint64_t kSparseShare = 8;

// What an entry takes beside its key and value, about: fields, a bucket's word, its part of tree nodes, and half of a
// unit lost. For the size of a generation whose entries are not known yet.
inline constexpr std::uint64_t kEntryExtraBytes = 128;

// An answer of changes has about so many bytes at most, and this share of what is free: a small change copies a leaf of
// the ordered index, which has some twenty times its bytes.
inline constexpr std::uint64_t kChangesBytesMax = 1024 * 1024;
inline constexpr std::uint64_t kChangesShare = 32;

// With less than this share of a generation free, no changes are asked for until what is retired is used again.
inline constexpr std::uint64_t kRoomShare = 16;

// A question that failed is asked again after this time, and so is the question for a page that came from a replica too
// far behind.
inline constexpr std::uint64_t kAskAgainMs = 20;

}  // namespace ingot::replication_view_making
