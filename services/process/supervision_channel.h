// One end of the channel between the supervisor and one process of its instance: a Unix socket (SOCK_SEQPACKET) on
// which each message is one datagram, with descriptors of shared memory as ancillary data.
//
// If the channel ends without a Leave message, the supervisor has died: the process is an orphan
// (services/process/adoption.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/process/supervision_messages.h"
#include "transport/host/descriptor.h"

namespace ingot {

// How many messages post() keeps for a process that does not read: the newest of each kind, and of NewIncarnation the
// newest ones for each endpoint. Older ones are dropped. A process that has missed incarnations may lack a segment that
// it needs; then it waits and reports that.
inline constexpr std::size_t kPendingPerKindMax = 1;
inline constexpr std::size_t kPendingIncarnationsPerEndpointMax = 4;

// Not thread-safe. No function blocks. Datagrams that are not messages are harmless: they are counted and dropped with
// their descriptors.
class SupervisionChannel {
 public:
  struct Received {
    enum class Outcome {
      kNothing,    // nothing has arrived yet
      kMessage,
      kTruncated,  // bytes or descriptors did not fit: out of descriptors, or the sender is another program
      kMalformed,  // decode_supervision_message() refuses it
      kEnd,        // the other end is closed, and everything that it sent has been received
    };
    Outcome outcome = Outcome::kNothing;
    SupervisionMessage message;    // kMessage
    std::vector<Descriptor> fds;   // kMessage; closed across exec
  };

  SupervisionChannel() = default;  // closed
  explicit SupervisionChannel(Descriptor fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  bool open() const { return fd_.valid(); }
  // Closes this end and drops the pending messages.
  void close();
  // Moves the socket to the caller. REQUIRES: !pending().
  Descriptor release() { return std::move(fd_); }

  // Sends one datagram, whole or not at all. The descriptors are duplicated; the caller's stay open. Errors:
  // UNAVAILABLE (the channel is full: try again when it is writable), FAILED_PRECONDITION (closed at this end or the
  // other), INTERNAL (anything else, for example a descriptor that is not open).
  absl::Status send(const SupervisionMessage& message, std::span<const int> fds = {});

  // Sends a message after those posted before it: now, or by flush() if the channel is full. Drops the message if the
  // other end is closed; its end is noticed elsewhere, so that is no error.
  void post(const SupervisionMessage& message, std::span<const int> fds = {});
  // True while posted messages wait: call flush() when fd() is writable.
  bool pending() const { return !pending_.empty(); }
  void flush();

  Received receive();
  // Number of datagrams that were kTruncated or kMalformed.
  std::uint64_t refused() const { return refused_; }

 private:
  struct Pending {
    SupervisionMessage message;
    std::vector<Descriptor> fds;  // duplicates, since the caller may close its own before flush()
  };
  void make_room_for(const SupervisionMessage& message);

  Descriptor fd_;
  std::deque<Pending> pending_;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot
