// Restarts dead endpoints, each in its next incarnation.
#pragma once

#include <map>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/status/status.h"
#include "services/supervision/children.h"
#include "services/supervision/restart_delay.h"

namespace ingot::inline services_supervision {

// Logs one line for each death, and one when the next incarnation is ready. A process that cannot start is retried
// without end, at growing intervals; each cause is logged once, and the other processes go on. Used by the
// supervisor's one thread.
class Restarts {
 public:
  Restarts(boost::asio::io_context& io, Instance& instance, Children& children);

  // REQUIRES of all: the child's role has one endpoint.
  void died(const Child& child, const std::string& how);
  void failed(const Child& child, const absl::Status& why);
  void ready(const Child& child);
  // Starts the role's next incarnation now: it has no process, and none has died.
  void begin(const ChildRole& role);
  // The role has no process; `what` says why, for the log.
  void missing(const ChildRole& role, const std::string& what);

  // Whether a start is being delayed in favour of a failover (kFailoverFirstMs).
  bool any_waits_for_others() const;

  void cancel();  // no process is started from now on

 private:
  struct Endpoint {
    Endpoint(boost::asio::io_context& io, ChildRole role) : role(std::move(role)), timer(io) {}
    ChildRole role;
    boost::asio::steady_timer timer;
    RestartDelay delay;
    std::string failure;            // why the incarnation that is ending could not start; empty: it sent no reason
    std::string logged_cause;       // why it could not start, as last logged
    bool again = false;             // an incarnation was started here
    bool waits = false;             // to be started when the timer expires
    bool waits_for_others = false;  // likewise, delayed only by kFailoverFirstMs
    bool starts_now = false;        // likewise, without delay
  };

  Endpoint& endpoint(const ChildRole& role);
  void start_later(Endpoint& endpoint, const std::string& what, const std::string& cause, std::int64_t lived_ms);
  int failover_ms(const Endpoint& endpoint, int delay_ms);
  void start_after(Endpoint& endpoint, int delay_ms);
  void start(Endpoint& endpoint);

  boost::asio::io_context& io_;
  Instance& instance_;
  Children& children_;
  std::map<int, Endpoint> endpoints_;
  bool cancelled_ = false;
};

}  // namespace ingot::services_supervision
