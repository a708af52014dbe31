// What a node of the store is: the kind in its header.
#pragma once

#include <cstdint>

namespace ingot::inline replication_view_index {

enum class IndexNode : std::uint8_t {
  kKey = 1,
  kVersion = 2,
  kLeaf = 3,       // of the ordered tree
  kInner = 4,      // of the ordered tree
  kSeparator = 5,  // of the ordered tree
  kPiece = 6,      // of a long key or value
  kLogChunk = 7,
  kBuckets = 8,    // a segment of the hash index
  kOverflow = 9,   // a bucket behind a full one
  kDirectory = 10,
};

}  // namespace ingot::replication_view_index
