// The stable segments of a simulated group: a writer shares its segment with all readers, and the supervisor and every
// replica keep segments by the same rule as the real ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "replication/stable/incarnation_segments.h"
#include "replication/stable/store.h"
#include "tests/replication/stable/stable_store_model.h"

namespace ingot::simulation {

// One incarnation's stable store, in memory that outlives its writer. Not thread-safe.
class SimulatedSegment final : public StableStore {
 public:
  // While `pressed` is true, the segment reports a sixth more use than it has. REQUIRES: `pressed` outlives this.
  SimulatedSegment(EndpointId replica, Incarnation incarnation, std::size_t capacity_bytes, const bool& pressed)
      : model_(replica, incarnation, capacity_bytes), pressed_(pressed) {}

  bool store(const StableWrite& write) override { return model_.store(write); }
  std::size_t capacity_bytes() const override { return model_.capacity_bytes(); }
  std::size_t used_bytes() const override {
    return model_.used_bytes() + (pressed_ ? capacity_bytes() / kPressureParts + 1 : 0);
  }
  void make_room() override { model_.make_room(); }
  void clean() override { model_.clean(); }

  StableStoreModel& model() { return model_; }
  const StableStoreModel& model() const { return model_; }

  // The kernel's mark on the writer lock: the writer is dead, and the content is final.
  bool marked_dead = false;

 private:
  static constexpr std::size_t kPressureParts = 6;  // of the capacity; above it a replica trims what it can

  StableStoreModel model_;
  const bool& pressed_;
};

// The segments of a group that the supervisor, or one replica, keeps.
class KnownSegments {
 public:
  struct Known {
    Incarnation incarnation{1};
    std::shared_ptr<const SimulatedSegment> memory;  // never null
  };
  using Incarnations = std::deque<Known>;  // of one replica, oldest first; the last is the newest

  explicit KnownSegments(int replicas) : replicas_(static_cast<std::size_t>(replicas)) {}

  const Incarnations& of(EndpointId replica) const { return replicas_[replica.value()]; }
  ReplicaIncarnation newest(EndpointId replica) const { return {replica, of(replica).back().incarnation}; }

  // Null: this segment is not kept any more, or never was.
  const SimulatedSegment* find(ReplicaIncarnation name) const {
    for (const Known& known : of(name.id)) {
      if (known.incarnation == name.incarnation) return known.memory.get();
    }
    return nullptr;
  }

  // The next incarnation begins. Votes of earlier ones for slots from `history_from` on may be needed.
  void begin(ReplicaIncarnation next, std::shared_ptr<const SimulatedSegment> memory, Slot history_from) {
    const auto counts = [](const Known& ended) {
      return ended.incarnation == Incarnation(1) || !ended.memory->model().state().configuration.empty();
    };
    const auto needed = [&](const Known& ended) { return ended.memory->model().accepted_end() > history_from; };
    add_incarnation(replicas_[next.id.value()], Known{next.incarnation, std::move(memory)}, counts, needed);
  }

 private:
  std::vector<Incarnations> replicas_;
};

}  // namespace ingot::simulation
