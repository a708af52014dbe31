#include "replication/replica/trees/state_machine.h"

#include <utility>

#include "core/stable_hash.h"
#include "core/wire.h"

namespace ingot::inline replication_replica_trees {

std::string TreeStateMachine::apply(Slot slot, std::string_view command) {
  if (!is_tree_change(command)) return machine_.apply(slot, command);
  table_.apply(command);  // an outdated change has no effect, on all replicas alike
  return {};
}

std::optional<std::string> TreeStateMachine::apply_some(Slot slot, std::string_view command, StepBudget& steps) {
  if (!is_tree_change(command)) return machine_.apply_some(slot, command, steps);
  return StateMachine::apply_some(slot, command, steps);
}

void TreeStateMachine::save(Sink sink) const {
  sink(WireWriter().bytes(encode(table_.current())).view());
  machine_.save(sink);
}

absl::StatusOr<StateMachine::Load> TreeStateMachine::decode(std::string_view snapshot) {
  WireReader in(snapshot);
  const std::string_view trees = in.bytes();
  const std::string_view machine = in.rest();
  auto set = in.failed() ? std::nullopt : decode_tree_set(trees, replicas_);
  if (!set) {
    return absl::InvalidArgumentError("the bytes are not a snapshot of a replica: its trees are malformed");
  }
  absl::StatusOr<Load> load = machine_.decode(machine);
  if (!load.ok()) return load.status();
  return Load([this, set = *std::move(set), load = *std::move(load)]() mutable {
    std::move(load)();
    table_.install(std::move(set));
  });
}

// The initial trees are excluded: they are not part of the group's history, and replicas may have planned them
// differently.
std::uint64_t TreeStateMachine::digest() const {
  if (table_.version() == 0) return machine_.digest();
  if (hashed_version_ != table_.version()) {
    hashed_version_ = table_.version();
    hash_ = hash_bytes(encode(table_.current()));
  }
  return mix(machine_.digest(), hash_);
}

}  // namespace ingot::replication_replica_trees
