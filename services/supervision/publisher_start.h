// When the publisher of the instance's view is started.
#pragma once

#include <cstdint>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "services/instance/instance.h"
#include "services/supervision/answer_watch.h"
#include "services/supervision/children.h"
#include "services/supervision/restarts.h"

namespace ingot::inline services_supervision {

// With --view=always at once, with --view=auto when the first client connects to the view socket: until then there is
// no process, and nothing is asked. From then on it is started again whenever it ends (Restarts), and killed when it
// answers nothing, or is stopped, for kPublisherTimeoutMs. Used by the supervisor's one thread.
class PublisherStart {
 public:
  PublisherStart(boost::asio::io_context& io, Instance& instance, Children& children, Restarts& restarts);

  // Serving begins, or goes on after all orphans were adopted. Once. A publisher of the instance that was not adopted
  // is killed first: two would answer on one socket.
  void begin();
  // The publisher has sent Pong, or is ready.
  void answered() { watch_.answered(); }
  void cancel();  // none is started from now on

 private:
  void end_unadopted();
  void wait_for_reader();
  void start();

  Instance& instance_;
  Children& children_;
  Restarts& restarts_;
  boost::asio::posix::stream_descriptor socket_;  // the instance's; only waited on
  AnswerWatch watch_;
};

}  // namespace ingot::services_supervision
