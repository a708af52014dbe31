#include "transport/host/waiter.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/check.h"

namespace ingot::inline transport_host {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

}  // namespace

void PpollWaiter::watch(int fd, std::function<void()> readable) {
  unwatch(fd);
  watches_.push_back({fd, std::make_shared<std::function<void()>>(std::move(readable))});
}

void PpollWaiter::unwatch(int fd) {
  std::erase_if(watches_, [fd](const Watch& watch) { return watch.fd == fd; });
  descriptors_.clear();
}

bool PpollWaiter::wait(std::uint64_t timeout_ns) {
  if (descriptors_.empty()) {
    for (const Watch& watch : watches_) descriptors_.push_back({watch.fd, POLLIN, 0});
  }
  const timespec timeout{.tv_sec = static_cast<time_t>(timeout_ns / kSecondNs),
                         .tv_nsec = static_cast<long>(timeout_ns % kSecondNs)};
  const bool endless = timeout_ns == kNever;
  const int ready = ::ppoll(descriptors_.data(), descriptors_.size(), endless ? nullptr : &timeout, nullptr);
  INGOT_CHECK(ready >= 0 || errno == EINTR, "the loop polls open descriptors");
  ready_.clear();
  if (ready <= 0) return false;  // on a signal ppoll leaves what it returned earlier
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    INGOT_CHECK((descriptors_[i].revents & POLLNVAL) == 0, "unwatch a descriptor before closing it");
    if (descriptors_[i].revents != 0) ready_.push_back(watches_[i]);
  }
  return true;
}

void PpollWaiter::dispatch() {
  const std::vector<Watch> ready = std::exchange(ready_, {});
  for (const Watch& watch : ready) {
    const bool still_watched = std::any_of(watches_.begin(), watches_.end(),
                                           [&](const Watch& other) { return other.readable == watch.readable; });
    if (still_watched) (*watch.readable)();
  }
}

}  // namespace ingot::transport_host
