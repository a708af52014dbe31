// The allocator's books compared with what a store's root reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "replication/view/heap/heap.h"

namespace ingot::test {

// The nodes that a root reaches, but for those of the retire queue.
struct Reached {
  std::set<std::uint32_t> nodes;
  std::string wrong;

  void add(HeapRef ref, const char* twice) {
    if (!nodes.insert(ref.value()).second) wrong = twice;
  }
};

// What is wrong: allocated = reached + retired, exactly; lists and counts are in order. What waits in the retire queue
// to be handed back is reached by that, whether or not it is reached otherwise. Empty: nothing. REQUIRES: the batch is
// fresh.
std::string compare_books(Heap& heap, std::span<const std::byte> memory, Reached reached);

}  // namespace ingot::test
