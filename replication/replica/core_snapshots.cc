// How a replica's core handles the snapshots that its driver wrote or decoded, or that came from a peer.
#include <memory>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "replication/agreement/limits.h"
#include "replication/replica/core.h"

namespace ingot::inline replication_replica {

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
  ++refused_;  // a peer may have a usable one
  starting_ = loading_ = false;
  agreement_->loading(false);
}

// While a snapshot is being loaded, none is made, since it would soon be old, and no other is taken from a peer. It is
// made of whole slots.
void ReplicaCore::poll_snapshots() {
  snapshot_work_ += snapshots_.poll(agreement_->status(), !loading_ && !applier_.under_way());
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

// Returns false if this replica has meanwhile applied as much as the snapshot holds.
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

// It is not known which of the proposed commands are in the snapshot, so all of them are accepted again when clients
// repeat them.
void ReplicaCore::install() {
  starting_ = loading_ = false;
  agreement_->loading(false);
  std::move(decoded_->load)();
  proposals_.forget_below(applier_.applied());
  const Slot installed = applier_.applied();
  agreement_->installed(INGOT_RULE("snapshot-is-exact") ? installed : installed.next(), effects_);
  snapshots_.installed();
  if (discard_) discard_(std::make_shared<Applier::Decoded>(*std::move(decoded_)));  // now holds the former state
  decoded_.reset();
  after_apply();
  answering_ = true;
}

void ReplicaCore::kept_segments(KeptSegments state) {
  snapshots_.note_segments_pressing(state != KeptSegments::kFew);
  compaction_.note_segments_full(state == KeptSegments::kFull);
}

}  // namespace ingot::replication_replica
