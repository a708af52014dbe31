// Broadcasts on the simulated SCC: many algorithms, one interface.
//
// One object a core, used by that core's program. All cores of the group make the same calls in the same order
// (collective). The state of an algorithm is partly in the message buffers (MPBs), so: one algorithm at a time on a
// chip, and all MPB lines of the group 0 when the first object is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "transport/scc/core.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_broadcast {

// The source, length and place of a message in private memory: its place at the source, its destination elsewhere. Each
// core gives its own `at`; the rest is the same on all cores.
struct Message {
  int source = 0;
  std::size_t bytes = 0;  // 0 is allowed
  Address at = 0;
};

class Broadcast {
 public:
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;
  virtual ~Broadcast() = default;

  // Returns when this core's part is done: receivers have the message in private memory, the source may change its
  // copy.
  // REQUIRES: the source is one of the group.
  void broadcast(const Message& message);

  // Several messages, in this order; some algorithms let them overlap.
  virtual void broadcast_all(std::span<const Message> messages);

  // When this core had the last message in private memory; on its source, when the call started.
  Picoseconds delivered_ps() const { return delivered_ps_; }

 protected:
  Broadcast(Core& core, const Group& group) : core_(core), group_(group) {}

  virtual void run(const Message& message) = 0;

  // Called when the message is in private memory, before it is forwarded from there.
  void delivered() { delivered_at(core_.now_ps()); }
  void delivered_at(Picoseconds when) { delivered_ps_ = when; }

  Core& core_;
  const Group group_;

 private:
  Picoseconds delivered_ps_ = 0;
};

class PlannedTrees;  // planned_trees.h

// The inputs of the objects on all cores.
struct BroadcastSetup {
  Group group;
  int k = kDefaultK;  // children of a core, in algorithms with such a parameter
  std::shared_ptr<PlannedTrees> plans;  // shared by all cores, so each tree is planned once; see prepare()

  static constexpr int kDefaultK = 7;
};
inline constexpr int kTreeChildrenMax = kCores - 1;

struct BroadcastAlgorithm {
  std::string_view name;
  std::string_view help;  // one line
  std::unique_ptr<Broadcast> (*make)(Core& core, const BroadcastSetup& setup);
};

// In the order of the papers.
std::span<const BroadcastAlgorithm> broadcast_algorithms();
// Null: no such algorithm.
const BroadcastAlgorithm* find_broadcast(std::string_view name);

// Checks a setup and completes it (plans) for chips with these options. Errors: INVALID_ARGUMENT: k not from 1 to 47.
absl::Status prepare(BroadcastSetup& setup, const ChipOptions& options);

}  // namespace ingot::scc::transport_scc_broadcast
