// The processes of an instance: starts or adopts them, reads their messages, sees them stop and end, and shows their
// states on DaemonPage. The observer decides what follows from that.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "replication/pages/page_access.h"
#include "services/handover/orphans.h"
#include "services/instance/instance.h"
#include "services/launch/child_process.h"
#include "services/launch/supervision_channel.h"
#include "services/supervision/child.h"
#include "services/supervision/standstill_log.h"

namespace ingot::inline services_supervision {

class ChildObserver {
 public:
  virtual ~ChildObserver() = default;
  virtual void child_ready(Child& child) = 0;
  virtual void child_failed(Child& child, const absl::Status& why) = 0;  // it cannot start and is about to end
  virtual void child_answered(Child& child) = 0;  // Pong
  virtual void child_published(Child& child, const supervision_v1::Snapshot& published, Descriptor snapshot) = 0;
  virtual void child_ended(Child& child, const std::string& how) = 0;    // "was killed by signal 9"
};

// Used by the supervisor's one thread. No other code of the process handles SIGCHLD.
class Children {
 public:
  Children(boost::asio::io_context& io, Instance& instance, ChildObserver& observer);

  // From now on SIGCHLD is handled. The observer is called from io's loop.
  void watch();

  // Starts a process as its endpoint's newest incarnation. REQUIRES: no process runs in that role. Errors:
  // RESOURCE_EXHAUSTED.
  absl::Status start(const ChildRole& role);

  // Starts a standby process, unless one waits already, so that the next start takes less time. A start uses it up;
  // the next call of this function replaces it.
  void prepare_standby() { standby_.prepare(); }

  // Takes over a process that a former supervisor started. REQUIRES: no process runs in that role.
  void adopt(const ChildRole& role, Orphan orphan);

  // Sends every running process what it does not know yet of the instance.
  void tell_all();

  // Shows a role as dead that has no process.
  void note_missing(const ChildRole& role);

  void for_each_running(absl::FunctionRef<void(Child&)> visit);
  // The process that runs in a role, by its label, or null.
  Child* running(std::string_view label);
  bool any_running() const;
  bool all_ready() const;  // whether all running processes are ready

 private:
  void add(std::shared_ptr<Child> child, ProcessState state);
  void watch_end(std::shared_ptr<Child> child);
  void poll_stops();
  void receive(std::shared_ptr<Child> child);
  SupervisionChannel::Received::Outcome read(Child& child);
  void dispatch(Child& child, SupervisionChannel::Received received);
  void note_refused(const Child& child);
  void reap();
  void standby_changed(int wait_status);
  void changed(Child& child, int wait_status);
  void was_stopped(Child& child, int signal);
  void ended(Child& child, const std::string& how);
  void note_state(Child& child, ProcessState state);
  void note(const ChildRole& role, const NotedProcess& now);
  void tell_of_death();
  void wake_all();

  boost::asio::io_context& io_;
  Instance& instance_;
  ChildObserver& observer_;
  boost::asio::signal_set signals_{io_};
  boost::asio::steady_timer poll_timer_{io_};
  StandstillLog standstill_;
  StandbyProcess standby_;
  std::vector<std::shared_ptr<Child>> children_;  // the newest process of each role, ended ones included
};

}  // namespace ingot::services_supervision
