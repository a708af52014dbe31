// Notices a front end that runs and answers nothing, and ends it, so that it is started again.
#pragma once

#include <cstdint>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "services/instance/instance.h"
#include "services/supervision/answer_bound.h"
#include "services/supervision/children.h"

namespace ingot::inline services_supervision {

// Sends Ping to the front end every kFrontEndAskMs. The front end sends Pong once its own server has answered a
// request. One that sends none for --front-end-timeout, whether it hangs, is stopped or does not get ready, is killed
// with SIGKILL, logged and counted on DaemonPage. It holds no state, so only requests in flight are lost. Used by the
// supervisor's one thread.
class FrontEndWatch {
 public:
  FrontEndWatch(boost::asio::io_context& io, Instance& instance, Children& children);

  // From now on; nothing is asked if --front-end-timeout is 0. To be called once.
  void start();
  // The front end has sent Pong, or has said that it is ready.
  void answered();
  void cancel();  // the front end is asked no more

 private:
  void wait();
  void tick();
  void give_up(Child& front_end, std::int64_t silent_ms);

  Instance& instance_;
  Children& children_;
  boost::asio::steady_timer timer_;
  std::optional<AnswerBound> bound_;  // none: nothing is asked
  std::uint32_t asked_ = 0;           // incarnation of the front end that the bound's ticks are of
  std::uint32_t killed_ = 0;          // incarnation whose end is awaited
};

}  // namespace ingot::services_supervision
