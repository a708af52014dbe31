#include "services/rpc/loop/asio_waiter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/check.h"

namespace ingot::rpc::inline loop {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = asio::steady_timer::clock_type;

struct AsioWaiter::Watch {
  Watch(asio::io_context& io, int fd, std::function<void()> readable)
      : descriptor(io, fd), readable(std::move(readable)) {}

  asio::posix::stream_descriptor descriptor;
  std::function<void()> readable;
  bool watched = true;
};

AsioWaiter::AsioWaiter(asio::io_context& io) : io_(io), timer_(io) {}

AsioWaiter::~AsioWaiter() {
  *alive_ = false;
  while (!watches_.empty()) unwatch(watches_.back()->descriptor.native_handle());
}

void AsioWaiter::watch(int fd, std::function<void()> readable) {
  unwatch(fd);
  watches_.push_back(std::make_shared<Watch>(io_, fd, std::move(readable)));
  arm(watches_.back());
}

void AsioWaiter::unwatch(int fd) {
  const auto found = std::find_if(watches_.begin(), watches_.end(), [fd](const std::shared_ptr<Watch>& watch) {
    return watch->descriptor.native_handle() == fd;
  });
  if (found == watches_.end()) return;
  (*found)->watched = false;
  (*found)->descriptor.release();  // the descriptor is its owner's
  watches_.erase(found);
}

// One wait gives one handler. The kernel is asked anew each time, so what stays readable is found again.
void AsioWaiter::arm(const std::shared_ptr<Watch>& watch) {
  watch->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                               [this, alive = alive_, watch](const error_code& error) {
                                 if (!error && *alive && watch->watched) ready_.push_back(watch);
                               });
}

// An earlier time that is set already stays: the loop then wakes once too often, which costs less than setting the
// timer anew before each sleep.
void AsioWaiter::arm_timer(std::uint64_t timeout_ns) {
  constexpr std::uint64_t kLongestNs = 3'600'000'000'000;  // an hour: the loop sleeps again
  const auto when = Clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, kLongestNs));
  if (armed_ && armed_for_ <= when) return;
  armed_ = true;
  armed_for_ = when;
  timer_.expires_at(when);
  timer_.async_wait([this, alive = alive_](const error_code& cancelled) {
    if (!*alive) return;
    ++timer_handlers_;
    if (!cancelled) armed_ = false;
  });
}

bool AsioWaiter::wait(std::uint64_t timeout_ns) {
  if (io_.stopped()) io_.restart();
  if (!ready_.empty()) return true;
  if (timeout_ns == 0) {
    const std::uint64_t before = timer_handlers_;
    const std::uint64_t ran = io_.poll();
    return ran > timer_handlers_ - before;
  }
  if (timeout_ns != kNever) arm_timer(timeout_ns);
  for (;;) {
    const std::uint64_t before = timer_handlers_;
    if (io_.run_one() == 0) return false;  // stopped
    if (timer_handlers_ == before) return true;
    if (!armed_) return false;
  }
}

void AsioWaiter::dispatch() {
  const std::vector<std::shared_ptr<Watch>> ready = std::exchange(ready_, {});
  for (const std::shared_ptr<Watch>& watch : ready) {
    if (!watch->watched) continue;
    watch->readable();
    if (watch->watched) arm(watch);
  }
}

}  // namespace ingot::rpc::loop
