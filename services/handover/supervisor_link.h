// A child's connection to its current supervisor: the one that started it or, after that one's death, the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/pages/instance_view.h"
#include "services/handover/handover_state.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/event_loop.h"

namespace ingot::inline services_handover {

// Not thread-safe: one thread opens it and runs the loop. No function blocks. Logs one line when the supervisor has
// ended, and one when the next one adopts the process.
class SupervisorLink {
 public:
  // Takes ownership of the supervision channel, duplicates every other descriptor of `spec`, and listens for the next
  // supervisor from then on. So open it first, before the process touches anything of the instance. `child` as in
  // services/handover/adoption.h. Null on failure; the supervisor has then been sent Failed with the reason, unless it
  // is dead already.
  static std::unique_ptr<SupervisorLink> open(const LaunchSpec& spec, std::string child);

  ~SupervisorLink();

  void send_ready();
  void send_failed(const absl::Status& why);
  // Errors as for SupervisionChannel::send; FAILED_PRECONDITION also while there is no supervisor.
  absl::Status send(const SupervisionMessage& message, std::span<const int> fds = {});

  // A message of the supervisor has been lost for good, perhaps a new incarnation, since this process has no descriptor
  // left for it; `why` says so.
  using Lose = std::function<void(const absl::Status& why)>;
  // A message with the descriptors of its datagram.
  using Receive = std::function<void(const SupervisionMessage& message, std::vector<Descriptor> fds)>;
  // From now on the loop calls `receive` with Drain, Leave, Ping, KeptIncarnations, NewSocket, Snapshot and
  // NewIncarnation; the last once for each incarnation that is newer than the known one of its endpoint, so never for
  // this process's own; NewSocket likewise. Snapshot comes without its descriptor: known() has the newest one. It also
  // calls it with Leave when there has been no supervisor for the instance's orphan grace.
  // Without `lose` a loss is only logged.
  void watch(EventLoop& loop, Receive receive, Lose lose = {});

  // What this process knows of the instance. Its descriptors are the link's, and replaced by newer ones.
  const LaunchSpec& known() const { return known_.spec(); }

  // Any thread may read it, for as long as the link lives.
  const SupervisorLoss& loss() const { return loss_; }

 private:
  struct Timers {
    Descriptor grace;
    Descriptor accept;
  };
  SupervisorLink(HandoverState known, SupervisionChannel channel, Descriptor listener, Timers timers,
                 std::string child);

  void watch_channel();
  void read_channel();
  void dispatch(SupervisionChannel::Received received);
  void begin_incarnation(const SupervisionMessage& message, std::vector<Descriptor> fds);
  void take_socket(const SupervisionMessage& message, std::vector<Descriptor> fds);
  void note_refused();
  void note_lost(const absl::Status& why);
  void close_channel();
  void adopted();
  void begin_grace();
  void grace_ended();
  void grace_over();
  bool accept();  // false: no supervisor waits to connect, or none can be accepted now
  void watch_listener();
  bool orphan() const { return loss_.lost(); }
  std::int64_t orphan_ms() const;

  HandoverState known_;
  const std::string child_;
  SupervisionChannel channel_;  // to the supervisor, or to one that has not sent Adopted yet, or closed
  SupervisorLoss loss_;
  Descriptor listener_;
  const Timers timers_;  // made at the start: there may be no descriptor when they are needed
  EventLoop* loop_ = nullptr;
  Receive receive_;
  Lose lose_;
};

}  // namespace ingot::services_handover
