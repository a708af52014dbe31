// Random changes of a store, which its model gets, too; how its writer and its readers answer; and its books.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/heap.h"
#include "replication/view/index/store_reader.h"
#include "replication/view/index/versioned_store.h"
#include "tests/replication/view/index/store_model.h"

namespace ingot::test {

// Different keys of all kinds: short ones, long ones, with common prefixes.
std::vector<std::string> draw_store_keys(Prng& prng, std::size_t count);

// What a store is asked to do, as often as the others.
struct ScriptMix {
  std::uint64_t puts = 50;
  std::uint64_t erases = 20;
  std::uint64_t compactions = 5;
  std::uint64_t frees = 12;
  std::uint64_t taken_back = 8;
};

class StoreScript {
 public:
  // `keys` and `model` outlive it.
  StoreScript(const std::vector<std::string>& keys, StoreModel& model, ScriptMix mix = {})
      : keys_(keys), model_(model), mix_(mix) {}

  // Some changes, without a root. They end when the store has no room for more.
  void batch(VersionedStore& store, Prng& prng);

 private:
  bool step(VersionedStore& store, Prng& prng);
  bool change(VersionedStore& store, Prng& prng, bool erases);

  const std::vector<std::string>& keys_;
  StoreModel& model_;
  ScriptMix mix_;
  StoreRevision before_ = 0;  // the revision before the newest change of this batch; 0: it cannot be taken back
};

// The writer's answers at its newest state, a reader's at the root that it has begun with, and those at a pinned root.
// `store`, `reader`, `view` outlive them.
StoreAnswers answers_of(VersionedStore& store);
StoreAnswers answers_of(StoreReader& reader);
StoreAnswers answers_of(const StoreView& view);

// What is wrong: allocated = reached + retired; the hash index and the tree have the same keys. Empty: nothing.
// REQUIRES: the batch is fresh.
std::string check_store_books(Heap& heap, std::span<const std::byte> memory);

}  // namespace ingot::test
