// How an event loop waits on descriptors. The loop decides when and for how long; a waiter only asks the kernel.
//
// PpollWaiter serves loops with a few descriptors. A loop with many sockets brings its own waiter, so that one system
// call waits for sockets and doorbells (services/rpc/loop/asio_waiter.h).
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ingot::inline transport_host {

// Used by the loop's thread only.
class Waiter {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  virtual ~Waiter() = default;

  // Calls `readable` from dispatch() when `fd` can be read or is at its end. One callback per descriptor: a second one
  // replaces the first. Callbacks may watch and unwatch. A descriptor is unwatched before it is closed.
  virtual void watch(int fd, std::function<void()> readable) = 0;
  virtual void unwatch(int fd) = 0;

  // Waits until a descriptor is ready, for up to `timeout_ns` (0: only checks; kNever: without limit). Returns whether
  // one is. A signal may end it early.
  virtual bool wait(std::uint64_t timeout_ns) = 0;

  // Calls the callbacks of what the last wait() found.
  virtual void dispatch() = 0;
};

class PpollWaiter final : public Waiter {
 public:
  void watch(int fd, std::function<void()> readable) override;
  void unwatch(int fd) override;
  bool wait(std::uint64_t timeout_ns) override;
  void dispatch() override;

 private:
  struct Watch {
    int fd;
    std::shared_ptr<std::function<void()>> readable;  // shared with a running callback that unwatches itself
  };

  std::vector<Watch> watches_;
  std::vector<pollfd> descriptors_;  // of watches_; empty: to be rebuilt
  std::vector<Watch> ready_;         // copies: a callback may change watches_
};

}  // namespace ingot::transport_host
