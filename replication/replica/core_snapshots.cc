// A replica's core and snapshots: what becomes of those that its driver wrote, decoded or got from a peer.
#include <memory>
#include <optional>
#include <utility>

#include "core/check.h"
#include "replication/agreement/limits.h"
#include "replication/replica/core.h"

namespace ingot {

void ReplicaCore::snapshot_written(std::shared_ptr<const SnapshotServer::File> file) {
  ++inputs_;
  snapshots_.written(std::move(file));
}

void ReplicaCore::snapshot_failed() {
  ++inputs_;
  snapshots_.failed();
}

void ReplicaCore::snapshot_decoded(absl::StatusOr<Applier::Decoded> outcome) {
  ++inputs_;
  INGOT_CHECK(loading_ && !decoded_, "an outcome that was waited for");
  if (outcome.ok()) {
    decoded_ = *std::move(outcome);
    return;
  }
  ++refused_;  // peers may have another one
  starting_ = loading_ = false;
  agreement_->loading(false);
}

// While one is being loaded none is made, for it would soon be old, nor is another one taken.
void ReplicaCore::poll_snapshots() {
  snapshot_work_ += snapshots_.poll(agreement_->status(), !loading_);
  auto file = loading_ ? std::nullopt : snapshots_.take_received();
  if (!file) return;
  const auto memory = std::make_shared<const ReceivedFile>(*std::move(file));
  load({memory->bytes(), memory});
  ++snapshot_work_;
}

void ReplicaCore::load(SnapshotBytes snapshot) {
  loading_ = true;
  agreement_->loading(true);
  queue_.order({.kind = Action::Kind::kLoadSnapshot, .snapshot = std::move(snapshot)});
}

// False: as much was applied meanwhile.
bool ReplicaCore::offer_install() {
  if (decoded_->applied > applier_.applied()) {
    action_ = {.kind = Action::Kind::kInstallSnapshot, .slot = decoded_->applied};
    return true;
  }
  starting_ = loading_ = false;
  agreement_->loading(false);
  if (discard_) discard_(std::make_shared<Applier::Decoded>(*std::move(decoded_)));
  decoded_.reset();
  return false;
}

// Which of the commands on their way are in the snapshot is not known: they are taken again if they come again.
void ReplicaCore::install() {
  starting_ = loading_ = false;
  agreement_->loading(false);
  std::move(decoded_->load)();
  proposals_.forget_below(applier_.applied());
  agreement_->installed(applier_.applied(), effects_);
  snapshots_.installed();
  if (discard_) discard_(std::make_shared<Applier::Decoded>(*std::move(decoded_)));  // it holds the former state
  decoded_.reset();
  after_apply();
}

Slot ReplicaCore::history_from() const {
  if (!traits_.votes_are_history) return Slot(kSlotsMax);
  return snapshots_.kept() ? snapshots_.published() : Slot(0);
}

}  // namespace ingot
