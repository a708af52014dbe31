// The agreed trees as part of the replicated state: changes are commands of the log, and digests and snapshots include
// the trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "replication/replica/trees/table.h"
#include "replication/store/state_machine.h"

namespace ingot::inline replication_replica_trees {

// Applies tree changes, known by their first byte, and passes all other commands to another state machine. Code that
// accepts requests from outside must refuse those that begin like a change (Replica does). Not thread-safe.
//
//   snapshot  u32 length of the trees in force as a change, the change, the other machine's snapshot to the end
class TreeStateMachine final : public StateMachine {
 public:
  // REQUIRES: both outlive this.
  TreeStateMachine(StateMachine& machine, TreeTable& table)
      : machine_(machine), table_(table), replicas_(table.replicas()) {}

  std::string apply(Slot slot, std::string_view command) override;
  std::optional<std::string> apply_some(Slot slot, std::string_view command, StepBudget& steps) override;
  void expect(std::string_view command) const override { machine_.expect(command); }
  std::string query(std::string_view query) const override { return machine_.query(query); }
  using StateMachine::save;
  void save(Sink sink) const override;
  std::size_t save_bytes() const override { return machine_.save_bytes(); }
  absl::StatusOr<Load> decode(std::string_view snapshot) override;
  std::uint64_t digest() const override;

 private:
  StateMachine& machine_;
  TreeTable& table_;
  const int replicas_;  // here so that decode does not read the table
  mutable std::uint32_t hashed_version_ = ~std::uint32_t{0};  // the version that hash_ is of
  mutable std::uint64_t hash_ = 0;
};

}  // namespace ingot::replication_replica_trees
