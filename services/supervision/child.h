// One process of an instance as its supervisor knows it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "services/handover/told.h"
#include "services/instance/instance.h"
#include "services/launch/child_role.h"
#include "services/launch/supervision_channel.h"
#include "services/supervision/stop_history.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_supervision {

// Used by the supervisor's one thread. Held by shared_ptr: a pending wait may outlive the child's place in the table.
class Child : public std::enable_shared_from_this<Child> {
 public:
  using Clock = std::chrono::steady_clock;

  // `pidfd` names the process for as long as the object lives, even if another process is its parent.
  // `told`: what it knows already.
  Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, SupervisionChannel channel,
        std::uint32_t incarnation, Told told);
  ~Child();

  const ChildRole role;
  const pid_t pid;
  const std::uint32_t incarnation;
  const Clock::time_point started = Clock::now();
  bool ready = false;
  bool running = true;
  bool foreign = false;  // a former supervisor started it: SIGCHLD reports neither its end nor its stops
  bool stopped = false;  // as last seen; kept for foreign processes only
  StopHistory stops;     // kept for others only

  SupervisionChannel channel;
  boost::asio::posix::stream_descriptor channel_ready;  // the channel's socket, to wait on; the channel closes it
  boost::asio::posix::stream_descriptor pidfd;          // readable once the process has ended

  // As ProcessEntry::started. Read once, since a process that has ended may have none; 0: it could not be read yet, for
  // want of a descriptor.
  std::uint64_t start_ticks();

  // "replica 2 (pid 4711)".
  std::string name() const;

  // As SupervisionChannel::post; pending messages go out as soon as the socket has room. A message that is lost is
  // logged: the first of each process, since thousands may follow.
  void post(const SupervisionMessage& message);
  // Sends the process what it has not been told of the instance (Instance::tell): now, or as soon as the socket has
  // room, as things are then. So nothing waits for a stopped process but the instance itself. REQUIRES: `instance`
  // outlives this.
  void tell(const Instance& instance);

  void signal(int number);

  // The process has ended: closes everything that names it.
  void close();

 private:
  bool send_waiting();
  void send_when_writable();
  void send_later();
  void note_lost(const absl::Status& sent);

  std::uint64_t start_ticks_ = 0;
  Told told_;
  const Instance* instance_ = nullptr;  // to tell of
  boost::asio::steady_timer retry_timer_;
  bool waits_for_room_ = false;
  bool lost_logged_ = false;
};

}  // namespace ingot::services_supervision
