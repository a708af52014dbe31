// Bounds of generations, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/rule.h"

namespace ingot::inline replication_view_generation {

// Tests that can leave rules out use small nodes, so that short runs have several levels.
inline constexpr bool kSmallNodes = !INGOT_CONSTANT_RULES;

// Of a whole generation; another size is refused. With fewer bytes, what 20 ms of changes retire would not fit.
inline constexpr std::uint64_t kGenerationBytesMin = kSmallNodes ? 64 * 1024 : 4 * 1024 * 1024;
inline constexpr std::uint64_t kGenerationBytesMax = std::uint64_t{64} << 30;

// Of a key or a value; a longer one is refused. Readers take a longer one for damage.
inline constexpr std::size_t kViewBytesMax = 2 * 1024 * 1024;

// The log of changes has this share of the generation, but not fewer entries than the minimum. The oldest are
// overwritten; a reader that asks for changes before them is told "too old".
inline constexpr std::uint64_t kLogShare = 64;
inline constexpr std::uint64_t kLogEntriesMin = kSmallNodes ? 16 : 4096;

// Deleted keys stay in the hash index while the log has their deletion. If they take more than this share of the
// generation, the log's oldest entries are dropped.
inline constexpr std::uint64_t kTombstoneShare = 16;

// Retired nodes are used again when they exceed this share of the generation, and never before the grace has passed
// since the first root that does not reach them was published.
inline constexpr std::uint64_t kRetiredShare = 8;
inline constexpr std::uint64_t kGraceMs = 20;

// A generation whose live bytes exceed this many quarters should be replaced by a larger one.
inline constexpr std::uint64_t kFullQuarters = 3;

// Roots whose fields are readable at the same time: a reader that is this many roots late while it copies a root's
// fields begins again.
inline constexpr std::uint64_t kRootCells = kSmallNodes ? 2 : 16;

// Entries of a node of the ordered index, and when two neighbours become one: if one has fewer than the first number,
// and both together not more than the second.
inline constexpr std::size_t kTreeEntriesMax = kSmallNodes ? 4 : 64;
inline constexpr std::size_t kTreeEntriesFew = kSmallNodes ? 2 : kTreeEntriesMax / 4;
inline constexpr std::size_t kTreeEntriesJoined = kTreeEntriesMax * 3 / 4;
// What all keys of a node begin with is compared once, up to so many bytes.
inline constexpr std::size_t kTreePrefixBytesMax = kSmallNodes ? 8 : 128;
inline constexpr std::size_t kTreeLevelsMax = 16;  // more are damage: 16^16 keys at least lie in fewer

// Entries of a bucket of the hash index on average, above which the index gets twice as many buckets; and buckets in a
// chain, when more keys fall into one bucket than it holds: with a longer chain the generation counts as full.
inline constexpr std::uint64_t kBucketLoadMax = 4;
inline constexpr std::size_t kBucketChainMax = 64;
inline constexpr std::uint8_t kTableBitsMax = 32;

// Words that a read of one key may load, beside the key and its value; a read that needs more has found damage.
inline constexpr std::uint64_t kGetWordsMax = 16 * 1024;

// The same for each change of the log, on average.
inline constexpr std::uint64_t kChangeWordsMax = 64;

// How often a read begins again with a newer root when it was overtaken.
inline constexpr int kReadAttemptsMax = 3;

// What is given back at a time of a generation that is gone: some milliseconds of the kernel's work.
inline constexpr std::uint64_t kPunchBytes = 16 * 1024 * 1024;

}  // namespace ingot::replication_view_generation
