// A view's own connection to the view socket: it waits for changes of keys with a prefix, and as long as it is open the
// instance may be asked to tell the view's age. Begun when either is wanted first, and made anew when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/prng.h"
#include "replication/view/tickets/connect.h"
#include "transport/host/descriptor.h"

namespace ingot::inline client_ingot {

// Not thread-safe. Only poll() blocks. Times are of CLOCK_MONOTONIC.
class WaitLink {
 public:
  WaitLink(std::vector<std::string> paths, std::uint64_t seed) : paths_(std::move(paths)), prng_(seed) {}

  // From now on a connection keeps the view's age known.
  void want_age() { age_wanted_ = true; }

  // Begins a wait, unless it is the one that was begun, and looks whether it has ended: true once.
  bool wait(std::string_view prefix, std::int64_t after_revision, std::int64_t now_ns);

  // Connects, takes the ticket, asks, looks for what has come: whatever can be done now.
  void advance(std::int64_t now_ns);

  // Why there is no connection. OK: there is one, or it is on its way.
  const absl::Status& failure() const { return failure_; }
  // Of the state of the instance that the connection has led to last; 0: none yet.
  std::uint64_t identity() const { return identity_; }

  // Returns when advance() may have something to do, and after `wait_ms` (-1: never) at the latest.
  void poll(std::int64_t now_ns, std::int64_t wait_ms);
  // A descriptor that can be read when advance() has something to do; the same one until forget(). -1: there is none
  // left.
  int fd();

  // The process was forked: the connection is the parent's. Closes this process's descriptors, and sends nothing.
  void forget();

 private:
  void connect(std::int64_t now_ns);
  void take_ticket(std::int64_t now_ns);
  void ask(std::int64_t now_ns);
  void look(std::int64_t now_ns);
  void lose(const absl::Status& why, std::int64_t now_ns);
  void watch_connection();
  void set_timer(std::int64_t at_ns);

  const std::vector<std::string> paths_;
  Prng prng_;
  std::optional<ViewConnection> connection_;
  bool ticket_taken_ = false;  // of the connection: from then on it takes questions
  bool age_wanted_ = false;
  bool age_asked_ = false;
  bool waits_ = false;  // the wait was begun, and has not ended
  bool asked_ = false;  // the connection was told of it
  bool ended_ = false;
  std::string prefix_;
  std::int64_t after_revision_ = 0;
  std::uint64_t identity_ = 0;
  absl::Status failure_;
  std::int64_t connected_ns_ = 0;
  std::int64_t connect_at_ns_ = 0;  // not before
  Descriptor epoll_;                // of the connection and the timer; made by fd()
  Descriptor timer_;
};

}  // namespace ingot::client_ingot
