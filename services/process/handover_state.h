// Everything that makes up an instance, held in descriptors of one's own: what any of its processes can hand to the
// next supervisor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "services/process/launch_spec.h"
#include "services/process/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot {

// Not thread-safe.
class HandoverState {
 public:
  // Duplicates the descriptors of the document, the supervision channel's left out. Errors: INVALID_ARGUMENT (one is
  // not open), RESOURCE_EXHAUSTED (no more descriptors).
  static absl::StatusOr<HandoverState> copy(const LaunchSpec& spec);

  // The document; its descriptors belong to this.
  const LaunchSpec& spec() const { return spec_; }

  // From now on the document names that incarnation. `fds`: the message's, which stay the caller's. False: the
  // incarnation is known already, or of no endpoint of this instance; nothing has changed.
  bool begin_incarnation(const supervision_v1::NewIncarnation& started, std::span<const Descriptor> fds);
  // The newest wins.
  void keep_snapshot(const supervision_v1::Snapshot& published, Descriptor snapshot);

  // Grows with every incarnation and snapshot. All processes are told of them in one order: who knows a larger one
  // knows all that the others know.
  std::uint64_t generation() const;

  // Gives a descriptor of the document away.
  Descriptor take(int fd) {
    auto found = owned_.extract(fd);
    return found.empty() ? Descriptor() : std::move(found.mapped());
  }

  // Hands everything over: HandoverDocument, then as many HandoverDescriptors as the descriptors need, in the
  // document's order. Errors as for SupervisionChannel::send.
  absl::Status send(SupervisionChannel& channel) const;

 private:
  friend class HandoverStateReceiver;
  int own(Descriptor fd);
  void add_stable(ReplicaLaunch& launch, std::uint32_t incarnation, Descriptor stable);
  void drop(int fd) { owned_.erase(fd); }

  LaunchSpec spec_;
  std::vector<CoreId> helper_cores_;  // where no loop runs
  std::map<int, Descriptor> owned_;   // by number
};

// Puts together what send() sent.
class HandoverStateReceiver {
 public:
  // True once everything is there. Errors: INVALID_ARGUMENT, for what send() does not send.
  absl::StatusOr<bool> add(const SupervisionMessage& message, std::vector<Descriptor> fds);

  // REQUIRES: add() has returned true. Once.
  HandoverState take() { return std::move(instance_); }

 private:
  absl::StatusOr<bool> assemble();

  HandoverState instance_;
  std::size_t expected_ = 0;  // descriptors; 0: the document has not come yet
  std::vector<Descriptor> received_;
};

}  // namespace ingot
