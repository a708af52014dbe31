// An event loop's way to wait in a Boost.Asio context: for sockets and doorbells in one system call.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/host/waiter.h"

namespace ingot::rpc::inline loop {

// wait() runs the context's handlers, those of sockets included, and returns true if it ran any. A watched descriptor
// becomes non-blocking. Used by one thread, the only one that runs the context, which outlives the waiter.
class AsioWaiter final : public Waiter {
 public:
  explicit AsioWaiter(boost::asio::io_context& io);
  ~AsioWaiter() override;

  void watch(int fd, std::function<void()> readable) override;
  void unwatch(int fd) override;
  bool wait(std::uint64_t timeout_ns) override;
  void dispatch() override;

 private:
  struct Watch;

  void arm(const std::shared_ptr<Watch>& watch);
  void arm_timer(std::uint64_t timeout_ns);

  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer::time_point armed_for_{};  // if armed_
  bool armed_ = false;
  std::uint64_t timer_handlers_ = 0;                            // that ran: the timer's time came, or it was set anew
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that outlive the waiter
  std::vector<std::shared_ptr<Watch>> watches_;
  std::vector<std::shared_ptr<Watch>> ready_;
};

}  // namespace ingot::rpc::loop
