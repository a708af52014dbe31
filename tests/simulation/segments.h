// The stable segments of a simulated group: a writer shares its segment with all readers, and the supervisor and every
// replica keep segments by the same rules as the real ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
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
    std::shared_ptr<const SimulatedSegment> memory;  // null: its content is unknown here
  };
  using Incarnations = std::deque<Known>;  // of one replica, oldest first; the last is the newest

  explicit KnownSegments(int replicas) : replicas_(static_cast<std::size_t>(replicas)) {}

  const Incarnations& of(EndpointId replica) const { return replicas_[replica.value()]; }
  ReplicaIncarnation newest(EndpointId replica) const { return {replica, of(replica).back().incarnation}; }

  // Null: this segment is not here.
  const SimulatedSegment* find(ReplicaIncarnation name) const {
    for (const Known& known : of(name.id)) {
      if (known.incarnation == name.incarnation) return known.memory.get();
    }
    return nullptr;
  }
  // Whether the supervisor has released it.
  bool released(ReplicaIncarnation name) const {
    const auto same = [&](const Known& known) { return known.incarnation == name.incarnation; };
    return name.incarnation < newest(name.id).incarnation && std::none_of(of(name.id).begin(), of(name.id).end(), same);
  }

  // For the supervisor: the next incarnation begins.
  void begin(ReplicaIncarnation next, std::shared_ptr<const SimulatedSegment> memory) {
    add_incarnation(replicas_[next.id.value()], Known{next.incarnation, std::move(memory)}, [](const Known& ended) {
      return ended.incarnation == Incarnation(1) || !ended.memory->model().state().configuration.empty();
    });
  }
  // Likewise: a snapshot of the slots below `published` is kept. Returns the number of released segments.
  std::size_t release(Slot published) {
    const auto extent = [](const Known& each) { return std::optional(each.memory->model().extent()); };
    return release_segments(std::span(replicas_), published, extent).size();
  }
  // Earlier incarnations of the replica whose segments are here.
  std::vector<Incarnation> kept(EndpointId replica) const {
    std::vector<Incarnation> kept;
    for (const Known& known : of(replica)) kept.push_back(known.incarnation);
    kept.pop_back();
    return kept;
  }
  // Of the segments that wait for a snapshot of more slots than those below `published`.
  std::size_t waiting_bytes(Slot published) const {
    std::size_t bytes = 0;
    const auto extent = [](const Known& each) { return std::optional(each.memory->model().extent()); };
    for_each_waiting(std::span<const Incarnations>(replicas_), published, extent,
                     [&](const Known& each) { bytes += each.memory->model().used_bytes(); });
    return bytes;
  }

  // For a replica: what it is told of another one, in any order.
  void learn(ReplicaIncarnation name, std::shared_ptr<const SimulatedSegment> memory) {
    Incarnations& known = replicas_[name.id.value()];
    if (name.incarnation > known.back().incarnation) known.push_back({name.incarnation, memory});
    for (Known& each : known) {
      if (each.incarnation == name.incarnation) each.memory = memory;
    }
  }
  // The supervisor keeps these earlier incarnations of the replica, in ascending order.
  void keep(EndpointId replica, std::span<const Incarnation> kept) {
    keep_listed(replicas_[replica.value()], kept, [](Incarnation unknown) { return Known{unknown, nullptr}; });
  }

 private:
  std::vector<Incarnations> replicas_;
};

}  // namespace ingot::simulation
