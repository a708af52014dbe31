// Starts what has died again, in its next incarnation.
#pragma once

#include <map>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/status/status.h"
#include "services/supervision/children.h"
#include "services/supervision/restart_delay.h"

namespace ingot {

// One line for each death, and one when the next incarnation serves. A process that cannot start is tried again for
// ever, ever less often; that is said once a cause, and the others go on. Used by the supervisor's one thread.
class Restarts {
 public:
  Restarts(boost::asio::io_context& io, Instance& instance, Children& children);

  // REQUIRES of all: the child lives the incarnations of one endpoint.
  void died(const Child& child, const std::string& how);
  void failed(const Child& child, const absl::Status& why);
  void ready(const Child& child);
  // Whoever is not there at all: `what` says why, for the line.
  void missing(const ChildRole& role, const std::string& what);

  // Whether somebody is about to start who lets others go first.
  bool any_waits_for_others() const;

  void cancel();  // nobody is started any more

 private:
  struct Endpoint {
    Endpoint(boost::asio::io_context& io, ChildRole role) : role(std::move(role)), timer(io) {}
    ChildRole role;
    boost::asio::steady_timer timer;
    RestartDelay delay;
    std::string failure;  // why the incarnation that ends now could not start; empty: it did not say
    std::string logged_cause;     // the cause that was reported last, of those that kept it from starting
    bool again = false;   // an incarnation was started here
    bool waits = false;             // to be started when the timer says so
    bool waits_for_others = false;  // likewise, and only for kFailoverFirstMs
    bool starts_now = false;        // likewise, and for nothing
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

}  // namespace ingot
