// Logs that no replica runs, since no replica can.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace ingot::inline services_supervision {

// Used by the supervisor's one thread.
class StandstillLog {
 public:
  // `warning` and `info` get one sentence each, from io's loop or from observe().
  using Write = std::function<void(const std::string&)>;
  StandstillLog(boost::asio::io_context& io, Write warning, Write info);

  // Whether any replica runs or is being started; to be called after each change. A warning is written once none has
  // for kStandstillMs, so not when replicas are merely started again; an info, when one does after that.
  void observe(bool any_runs);

 private:
  boost::asio::steady_timer timer_;
  const Write warning_;
  const Write info_;
  bool any_runs_ = true;
  bool logged_ = false;  // the warning, and not yet its end
};

}  // namespace ingot::services_supervision
