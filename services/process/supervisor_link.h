// A child's connection to its supervisor, whoever that is: the one that started it, and when that has died, the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/process/control_channel.h"
#include "services/process/handover_state.h"
#include "services/process/launch_spec.h"
#include "transport/host/event_loop.h"

namespace ingot {

// Not thread-safe: one thread makes it and runs its loop. Nothing here blocks.
class SupervisorLink {
 public:
  // Takes the control channel over, duplicates every other descriptor of `spec`, and can be found by the next supervisor
  // from then on: so make it first of all, before anything of the instance is touched. `child` as in
  // services/process/adoption.h. Null if it cannot be; then the supervisor has been told why, unless it is dead already.
  static std::unique_ptr<SupervisorLink> open(const LaunchSpec& spec, std::string child);

  ~SupervisorLink();

  void say_ready();
  void say_failed(const absl::Status& why);
  // Errors as for send_message; FAILED_PRECONDITION also while there is no supervisor.
  absl::Status send(std::string_view text, std::span<const int> fds = {});

  // From now on `hear` is called from the loop with kDrain, kLeave and kLife, the last once for each incarnation and
  // only for lives of others. kLeave also comes when there has been no supervisor for as long as the instance's orphan
  // grace.
  void watch(EventLoop& loop, std::function<void(ControlWord)> hear);

 private:
  SupervisorLink(HandoverState known, Descriptor control, Descriptor listener, std::string child);

  void watch_control();
  void read_control();
  void handle(ControlWord word);
  void lose_control();
  void begin_grace();
  void grace_ended();
  void grace_over();
  bool accept();  // false: nobody waits
  std::int64_t orphan_ms() const;

  HandoverState known_;
  const std::string child_;
  Descriptor control_;     // to the supervisor, or to one that has not said "adopted" yet; or none
  bool orphan_ = false;
  std::uint64_t orphan_since_ns_ = 0;
  Descriptor listener_;
  Descriptor grace_timer_;
  EventLoop* loop_ = nullptr;
  std::function<void(ControlWord)> hear_;
};

}  // namespace ingot
