// What an instance needs before its first child starts: a name, free ports, shared memory, and a core for each replica.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/process/handover_state.h"
#include "services/process/launch_spec.h"
#include "services/process/supervision_messages.h"
#include "transport/host/descriptor.h"
#include "transport/host/fabric.h"
#include "transport/host/segment.h"

namespace ingot {

// Checks a configuration and fills in what follows from it (name, voters, ids). Errors: INVALID_ARGUMENT with one
// sentence that says what is wrong and what is right.
absl::Status complete(DaemonConfig& config);

// An endpoint's next incarnation, which is announced to every running process.
struct NewIncarnation {
  int endpoint = 0;
  std::uint32_t incarnation = 0;
  std::vector<int> fds;  // its inbox and, for a replica, its stable segment; owned by the Instance

  SupervisionMessage message() const { return incarnation_message(endpoint, incarnation); }
};

// Owns the instance's name and shared memory for as long as it lives. Used by the supervisor's one thread.
class Instance {
 public:
  // Takes the name and makes the memory. Errors: ALREADY_EXISTS (name or port in use), INVALID_ARGUMENT,
  // RESOURCE_EXHAUSTED; then nothing is left behind.
  static absl::StatusOr<std::unique_ptr<Instance>> create(DaemonConfig config);

  // Takes over a running instance: `name`, which the caller has claimed, and the handover state of its processes.
  // Errors: INVALID_ARGUMENT (the state does not describe an instance of this program); then nothing has changed.
  static absl::StatusOr<std::unique_ptr<Instance>> adopt(Descriptor name, HandoverState known);

  const DaemonConfig& config() const { return config_; }
  DaemonPage& page() { return *page_segment_.as<DaemonPage>(); }
  Fabric& fabric() { return fabric_; }

  // A launch document with every endpoint's newest incarnation and without a supervision channel.
  LaunchSpec launch_spec() const;

  // Makes the segments of the next incarnation of a replica, or of the front end (the last endpoint). The stable
  // segments of earlier incarnations are kept as long as they may be needed. REQUIRES: the kernel has reported the end
  // of the incarnation before. Errors: RESOURCE_EXHAUSTED; then nothing has changed.
  absl::StatusOr<NewIncarnation> begin_incarnation(int endpoint);
  // The newest incarnation of each endpoint that has had more than one, as begin_incarnation returned it.
  std::vector<NewIncarnation> current_incarnations() const;
  std::uint32_t incarnation(int endpoint) const;  // the newest incarnation of an endpoint

  // A published snapshot of the state before `slot`. The newest wins; an older one is closed.
  void keep_snapshot(Slot slot, Descriptor snapshot);

 private:
  struct StableIncarnation {
    std::uint32_t incarnation;
    Descriptor fd;
  };
  Instance(DaemonConfig config, Descriptor name, Fabric fabric);
  absl::Status make_pages();
  absl::Status take_over(HandoverState known);
  absl::StatusOr<Descriptor> make_stable(int replica) const;
  absl::Status place_replicas();

  DaemonConfig config_;
  Descriptor name_;
  Fabric fabric_;
  Descriptor page_fd_;
  Segment page_segment_;
  std::vector<Descriptor> pages_;  // by replica
  std::vector<std::deque<StableIncarnation>>
      stable_;  // by replica: the incarnations whose segments are kept, oldest first; the last is the newest
  std::vector<ReplicaLaunch> replicas_;  // without stable segments
  std::uint32_t front_end_incarnation_ = 1;
  Descriptor snapshot_;
  Slot snapshot_slot_;
  TreeLaunch trees_;
  bool shared_cores_ = true;
};

}  // namespace ingot
