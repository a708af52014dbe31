// The handover state of an instance: its launch document, and own duplicates of all descriptors that the document
// names. Any process of the instance can hand it to the next supervisor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_handover {

// Not thread-safe.
class HandoverState {
 public:
  // Copies the document and duplicates its descriptors, except the supervision channel's. Errors: INVALID_ARGUMENT (one
  // is not open), RESOURCE_EXHAUSTED (no more descriptors).
  static absl::StatusOr<HandoverState> copy(const LaunchSpec& spec);

  // The document. Its descriptors are owned by this object.
  const LaunchSpec& spec() const { return spec_; }

  // Enters the endpoint's new incarnation into the document. `fds`: the message's descriptors, which are duplicated and
  // stay the caller's. Errors, and then nothing has changed: ALREADY_EXISTS (the incarnation is not newer than the
  // known one), INVALID_ARGUMENT (the endpoint is not of this instance, or the number of descriptors is wrong for it),
  // RESOURCE_EXHAUSTED (no descriptors: a document with a gap could not be handed over).
  absl::Status begin_incarnation(const supervision_v1::NewIncarnation& started, std::span<const Descriptor> fds);
  // Drops the segments of the replica's earlier incarnations that are no longer kept. False, and nothing has changed:
  // the endpoint is no replica of this instance.
  bool keep_incarnations(const supervision_v1::KeptIncarnations& kept);
  // Keeps the snapshot in place of the one before if its slot is higher; else drops it.
  void keep_snapshot(const supervision_v1::Snapshot& published, Descriptor snapshot);

  // Takes the socket that has been bound anew in place of the one before. `fd` is duplicated and stays the caller's.
  // Errors as for begin_incarnation.
  absl::Status keep_socket(const supervision_v1::NewSocket& bound, const Descriptor& fd);

  // Tells the next supervisor how much this process knows: sets incarnations, snapshot_slot, the bindings and unknown.
  void describe(supervision_v1::Orphaned& greeting) const;

  // Takes over what another process of the instance knows better: of each endpoint the newer incarnation, segments that
  // are unknown here, the newer snapshot, the newer Unix sockets. REQUIRES: both documents are of the same instance.
  void merge(HandoverState other);

  // Moves a descriptor of the document to the caller; invalid if this object does not own `fd`.
  Descriptor take(int fd) {
    auto found = owned_.extract(fd);
    return found.empty() ? Descriptor() : std::move(found.mapped());
  }

  // Sends a HandoverDocument message, then as many HandoverDescriptors messages as the descriptors need, in the
  // document's order. Errors as for SupervisionChannel::send and write_launch_spec.
  absl::Status send(SupervisionChannel& channel) const;

 private:
  friend class HandoverStateReceiver;
  std::uint32_t* incarnation_of(int endpoint);
  int own(Descriptor fd);  // returns its number; -1 for an invalid one
  void replace(int& number, Descriptor fd);
  void set_earlier(ReplicaLaunch& launch, std::span<const Incarnation> kept);
  void take_newer(SocketLaunch& mine, HandoverState& other, const SocketLaunch& theirs);
  void take_newer(ReplicaLaunch& mine, HandoverState& other, const ReplicaLaunch& theirs);
  void complete(ReplicaLaunch& mine, HandoverState& other, const ReplicaLaunch& theirs);
  void drop(int fd) { owned_.erase(fd); }

  LaunchSpec spec_;
  std::vector<CoreId> helper_cores_;  // cores on which no loop runs
  std::map<int, Descriptor> owned_;   // by descriptor number
};

// Assembles a HandoverState from the messages that send() sent.
class HandoverStateReceiver {
 public:
  // True once the state is complete. Errors: INVALID_ARGUMENT, for a message that send() does not send at this point.
  absl::StatusOr<bool> add(const SupervisionMessage& message, std::vector<Descriptor> fds);

  // To be called once. REQUIRES: add() has returned true.
  HandoverState take() { return std::move(instance_); }

 private:
  absl::StatusOr<bool> assemble();

  HandoverState instance_;
  std::size_t expected_ = 0;  // number of descriptors; 0: the document has not arrived yet
  std::vector<Descriptor> received_;
};

}  // namespace ingot::services_handover
