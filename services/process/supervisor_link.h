// A child's connection to its supervisor, whoever that is: the one that started it, and when that has died, the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/process/handover_state.h"
#include "services/process/launch_spec.h"
#include "services/process/supervision_channel.h"
#include "transport/host/event_loop.h"

namespace ingot {

// Not thread-safe: one thread makes it and runs its loop. Nothing here blocks.
class SupervisorLink {
 public:
  // Takes the supervision channel over, duplicates every other descriptor of `spec`, and can be found by the next
  // supervisor from then on: so make it first of all, before anything of the instance is touched. `child` as in
  // services/process/adoption.h. Null if it cannot be; then the supervisor has been told why, unless it is dead
  // already.
  static std::unique_ptr<SupervisorLink> open(const LaunchSpec& spec, std::string child);

  ~SupervisorLink();

  void send_ready();
  void send_failed(const absl::Status& why);
  // Errors as for SupervisionChannel::send; FAILED_PRECONDITION also while there is no supervisor.
  absl::Status send(const SupervisionMessage& message, std::span<const int> fds = {});

  // A message with the descriptors that came beside it.
  using Receive = std::function<void(const SupervisionMessage& message, std::vector<Descriptor> fds)>;
  // From now on `receive` is called from the loop with Drain, Leave and NewIncarnation, the last once for each
  // incarnation and only for incarnations of others. Leave also comes when there has been no supervisor for as long as
  // the instance's orphan grace.
  void watch(EventLoop& loop, Receive receive);

 private:
  SupervisorLink(HandoverState known, SupervisionChannel channel, Descriptor listener, std::string child);

  void watch_channel();
  void read_channel();
  void dispatch(SupervisionChannel::Received received);
  void note_refused();
  void close_channel();
  void adopted();
  void begin_grace();
  void grace_ended();
  void grace_over();
  bool accept();  // false: nobody waits
  std::int64_t orphan_ms() const;

  HandoverState known_;
  const std::string child_;
  SupervisionChannel channel_;  // to the supervisor, or to one that has not sent Adopted yet; or closed
  bool orphan_ = false;
  std::uint64_t orphan_since_ns_ = 0;
  Descriptor listener_;
  Descriptor grace_timer_;
  EventLoop* loop_ = nullptr;
  Receive receive_;
};

}  // namespace ingot
