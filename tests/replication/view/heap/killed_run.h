// Runs of a store on a heap, whose writer is killed and followed by the next incarnation, again and again, and readers
// over all that it stored. What the store is, KilledStore says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/reader.h"

namespace ingot::test {

inline constexpr HeapIdentity kIdentity{.replica = 3, .chain_id = 0x1234567890abcdef};

struct RunOptions {
  std::uint64_t seed = 0;
  int batches = 40;        // of all incarnations
  std::size_t waiting_max = 0;  // stores that wait at most (killed_memory.h)
  // The store of the first, second... incarnation before which it is killed, its adoption's included; the one behind
  // them is not killed.
  std::vector<std::uint64_t> kills = {};
  int drawn_kills = 0;     // more of them, drawn
  int readers = 0;         // over all stores
  bool sees_all = false;   // checks that no store has escaped the model, which takes long
  double near_ends = 0.5;  // how many of them run while a writer ends and the next one adopts
};

struct RunResult {
  std::string failure;  // empty: all was right
  std::uint64_t kills = 0;
  std::uint64_t adoptions = 0;
  std::uint64_t reclaimed = 0;   // batches
  std::uint64_t counted = 0;     // reads
  std::uint64_t began_again = 0;
  std::vector<std::uint64_t> stores;  // of each incarnation
};

// A store and what is known of it besides: the state that each of its roots must show. It outlives its writers.
class KilledStore {
 public:
  virtual ~KilledStore() = default;

  // A writer begins, on a heap that it has created or adopted, whose root is one that has a state.
  virtual void open(Heap& heap) = 0;
  virtual void close() = 0;

  // In a new chain: the first root with a state, published. False: damage.
  virtual bool begin(std::uint64_t now_ms) = 0;
  // A batch of some changes, without its root. True: it has reclaimed.
  virtual bool batch(std::uint64_t now_ms) = 0;
  virtual bool publish(std::uint64_t now_ms) = 0;

  // Whether a root with that number was made.
  virtual bool has_state(std::uint64_t number) const = 0;

  // What a reader sees at the root that it begins at, of what a seed draws; "" if it does not count. `number` gets the
  // root's, if there is one.
  virtual std::string read(std::span<const std::byte> memory, std::optional<std::uint64_t>& number,
                           std::uint64_t seed) = 0;
  // The same at a pinned root, although newer ones exist.
  virtual std::string read_pinned(HeapReader& reader, const HeapRoot& root, std::uint64_t seed) = 0;
  // What they must see.
  virtual std::string expected(std::uint64_t number, std::uint64_t seed) const = 0;

  // What is wrong with the allocator's books or the writer's own reads. Empty: nothing.
  virtual std::string check(Heap& heap, std::span<const std::byte> memory) = 0;
};

// The store gets all that it draws from the generator, which outlives it.
using MakeStore = std::function<std::unique_ptr<KilledStore>(Prng&)>;
RunResult run_killed(const RunOptions& options, const MakeStore& make);

// Options that a seed draws: short runs whose readers look at adoptions, or long ones.
inline RunOptions drawn_options(std::uint64_t seed) {
  constexpr std::size_t kWaiting[] = {0, 4, 16, 64};
  const bool near = seed % 2 == 0;
  RunOptions options;
  options.seed = seed;
  options.batches = near ? 15 : 60;
  options.waiting_max = kWaiting[seed / 2 % 4];
  options.drawn_kills = near ? 5 : 12;
  options.readers = near ? 60 : 20;
  options.near_ends = near ? 1.0 : 0.3;
  return options;
}

}  // namespace ingot::test
