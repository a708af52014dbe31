// What an instance needs before its first child starts: a name, free ports, shared memory, and a core for each replica.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/pages/instance_view.h"
#include "replication/pages/view_page.h"
#include "services/config/daemon_config.h"
#include "services/handover/handover_state.h"
#include "services/handover/told.h"
#include "services/instance/instance_trace.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_channel.h"
#include "services/sockets/configured_socket.h"
#include "services/sockets/passed_descriptors.h"
#include "transport/host/descriptor.h"
#include "transport/host/fabric.h"
#include "transport/host/segment.h"

namespace ingot::inline services_instance {

// Checks the configuration of a new instance, and that this process's limits suffice for it (check_limits); fills in
// what follows from it (name, voters, member id), and draws the id of the cluster that its state is. Returns the TCP
// socket that listens on config.listen. Errors: ALREADY_EXISTS (an address is in use), INVALID_ARGUMENT or
// FAILED_PRECONDITION with one sentence that says what is wrong and what is right.
absl::StatusOr<Descriptor> complete(DaemonConfig& config);

// What every start says in the log of a socket that listens beyond this machine; empty: it does not.
std::string describe_exposure(const DaemonConfig& config, int listener);

// Owns the instance's name, listening sockets and shared memory for as long as it lives. Used by the supervisor's one
// thread.
class Instance {
 public:
  // Takes the name, binds the sockets, makes the memory, and restores config.restore. Errors: ALREADY_EXISTS (name,
  // port or Unix socket in use), INVALID_ARGUMENT, FAILED_PRECONDITION, UNAVAILABLE, RESOURCE_EXHAUSTED; then nothing
  // is left behind.
  static absl::StatusOr<std::unique_ptr<Instance>> create(DaemonConfig config);

  // Takes over a running instance: `name`, which the caller has claimed, and the handover state of its processes.
  // If the file of its Unix socket is gone, the socket is bound anew. Errors: INVALID_ARGUMENT (the state does not
  // describe an instance of this program), ALREADY_EXISTS (the port was given up and taken); then nothing has changed.
  static absl::StatusOr<std::unique_ptr<Instance>> adopt(Descriptor name, HandoverState known);

  const DaemonConfig& config() const { return config_; }
  DaemonPage& page() { return *page_; }
  const DaemonPage& page() const { return *page_; }
  Fabric& fabric() { return fabric_; }

  // A launch document with every endpoint's newest incarnation and without a supervision channel.
  LaunchSpec launch_spec() const;

  // The view socket listens: there can be a publisher.
  bool has_view_socket() const { return view_socket_.valid(); }
  int view_socket() const { return view_socket_.fd(); }
  // Whether the view socket was bound anew when the instance was taken over: a publisher that runs has the old one.
  bool new_view_socket() const { return new_view_socket_; }
  // Null: there is no view.
  const ViewPage* view_page() const { return view_page_segment_.as<ViewPage>(); }

  // Makes the segments of the next incarnation of a replica, of the front end, or of the view's publisher: the endpoint
  // behind the replicas stands for all endpoints of the front end, which have one incarnation. The stable segments of
  // earlier incarnations are kept as long as they are needed. REQUIRES: the kernel has reported the end of the
  // incarnation before. Errors: RESOURCE_EXHAUSTED (no memory or descriptors, or kKeptIncarnationsMax segments of that
  // replica are needed); then the incarnation has not begun.
  absl::Status begin_incarnation(int endpoint);
  std::uint32_t incarnation(int endpoint) const;  // the newest incarnation of an endpoint; as above for the front end
  // Releases the stable segments that are no longer needed, and shows on DaemonPage how many are kept
  // (docs/design/stable-storage.md).
  void release_segments();

  // When the former instance of this name began to serve, in ms since the Unix epoch, if it ended without a clean stop;
  // 0: there was none, or it was stopped.
  std::int64_t lost_former_unix_ms() const { return static_cast<std::int64_t>(page().lost_former_unix_ms.get()); }

  // A sentence for the log: which snapshot the state begins with; empty: it begins empty, or has begun before.
  const std::string& restored() const { return restored_; }

  // Sentences about the sockets, for the log.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Adds one, for the supervisor to log when it begins.
  void warn(std::string sentence) { warnings_.push_back(std::move(sentence)); }

  // The instance ends: connections are refused from now on. A supervisor that takes it over before its end ends that.
  void refuse_connections();

  // Serving begins: leaves a trace (services/instance/instance_trace.h), unless a former supervisor has. Errors: as
  // for InstanceTrace::leave.
  absl::Status leave_trace();
  // The trace, if it was left, is in use.
  void touch_trace();
  // The instance has been stopped cleanly.
  void remove_trace();

  // A snapshot of the state before `slot`, to be published. False: it is not newer than the one that is held.
  bool hold_snapshot(Slot slot, Descriptor snapshot);
  // From now on the replicas may trim what the held snapshot holds, if there is one. Releases segments. To be called
  // when all processes have been told of the snapshot, as far as their channels take it. A stopped process whose
  // channel is full lacks it; if the supervisor and all others then end, what is only in this snapshot is gone with
  // them.
  void publish_snapshot();

  // What a process knows that was started from launch_spec() just now.
  Told all_told() const;
  // Sends a process what it has not been told yet, until the channel refuses a message. Errors: those of
  // SupervisionChannel::send for that message; it and what comes after it are left to the next call.
  absl::Status tell(SupervisionChannel& channel, Told& told) const;

 private:
  struct StableIncarnation {
    std::uint32_t incarnation;
    Descriptor fd;  // invalid: no process has it, so its content is unknown
  };
  struct Name {
    ~Name() { close_unread(std::move(claim)); }  // any user can connect to it
    Descriptor claim;
  };

  Instance(DaemonConfig config, Descriptor name, Fabric fabric, InstanceTrace trace);
  void take_sockets(Descriptor listener, ConfiguredSocket socket);
  void take_over_sockets(HandoverState& known);
  void bind_lost_socket();
  absl::Status tell_socket(SupervisionChannel& channel, Told& told) const;
  absl::Status tell_incarnations(SupervisionChannel& channel, int replica, Told& told) const;
  absl::Status begin_front_end();
  absl::Status begin_publisher();
  absl::Status open_view();
  void take_over_view(HandoverState& known);
  absl::Status tell_publisher(SupervisionChannel& channel, Told& told) const;
  absl::Status tell_front_end(SupervisionChannel& channel, Told& told) const;
  int inbox(int endpoint) const;  // its descriptor
  std::vector<Incarnation> kept_before(int replica, std::uint32_t incarnation) const;
  Slot needed_from() const;  // votes for lower slots need not be kept
  void note_kept();
  absl::Status make_pages();
  void note_this_supervisor();
  absl::Status take_over(HandoverState known);
  absl::StatusOr<Descriptor> make_stable(int replica) const;
  absl::Status place_replicas();
  absl::Status restore_state();

  DaemonConfig config_;
  Name name_;
  Descriptor listener_;          // TCP
  UnixListener socket_;          // invalid: there is none
  std::uint32_t binding_ = 0;    // how often the instance has bound its path
  std::vector<std::string> warnings_;
  const InstanceTrace trace_;
  bool left_trace_ = false;
  Fabric fabric_;
  Descriptor page_fd_;
  Segment page_segment_;
  DaemonPage* page_ = nullptr;  // in page_segment_; set before anything uses the instance
  std::vector<Descriptor> pages_;  // by replica
  std::vector<std::deque<StableIncarnation>>
      stable_;  // by replica: the incarnations whose segments are kept, oldest first; the last is the newest
  std::vector<std::uint64_t> releases_;  // by replica: how often some of its segments were released; from 1
  std::vector<ReplicaLaunch> replicas_;  // without stable segments
  std::uint32_t front_end_incarnation_ = 1;
  std::uint32_t publisher_incarnation_ = 1;
  UnixListener view_socket_;  // invalid: there is none
  std::uint32_t view_binding_ = 1;  // as binding_. Only processes that start from now on know the newest one
  bool new_view_socket_ = false;
  Descriptor view_page_fd_;
  Segment view_page_segment_;
  Descriptor snapshot_;
  Slot snapshot_slot_;
  std::string restored_;
  TreeLaunch trees_;
  bool shared_cores_ = true;
};

}  // namespace ingot::services_instance
