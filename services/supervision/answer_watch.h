// Notices a process that runs and answers nothing, and ends it, so that it is started again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "services/supervision/answer_bound.h"
#include "services/supervision/children.h"

namespace ingot::inline services_supervision {

// Sends Ping to the process of one role every kFrontEndAskMs. The front end sends Pong once its own server has answered
// a request, the view's publisher once its loop has read the Ping. One that sends none for the timeout, whether it
// hangs, is stopped or does not get ready, is killed with SIGKILL and logged. It holds no state that is not elsewhere,
// too. Used by the supervisor's one thread.
class AnswerWatch {
 public:
  // `label`: of the role. `killed` is called at each kill.
  AnswerWatch(boost::asio::io_context& io, Children& children, std::string label, std::function<void()> killed);

  // From now on; nothing is asked if `timeout_ms` is 0. To be called once.
  void start(std::int64_t timeout_ms);
  // The process has sent Pong, or has said that it is ready.
  void answered();
  void cancel();  // it is asked no more

 private:
  void wait();
  void tick();
  void give_up(Child& child, std::int64_t silent_ms);

  Children& children_;
  const std::string label_;
  const std::function<void()> killed_call_;
  boost::asio::steady_timer timer_;
  std::optional<AnswerBound> bound_;  // none: nothing is asked
  std::uint32_t asked_ = 0;           // incarnation that the bound's ticks are of
  std::uint32_t killed_ = 0;          // incarnation whose end is awaited
};

}  // namespace ingot::services_supervision
