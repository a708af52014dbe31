// One end of the channel between the supervisor and one process of its instance: a Unix socket (SOCK_SEQPACKET), one
// datagram a message, with the descriptors of shared memory beside the bytes.
//
// The end of a channel without a Leave message says that the supervisor has died: the process is an orphan
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

// Messages that post() keeps for a process that does not read: the newest of each kind, and the newest ones of
// NewIncarnation for each endpoint. The older ones are dropped. A process that misses incarnations may have to wait for
// a segment that it has not seen, and says so.
inline constexpr std::size_t kPendingPerKindMax = 1;
inline constexpr std::size_t kPendingIncarnationsPerEndpointMax = 4;

// Not thread-safe. Nothing here blocks, and no bytes of the other end do harm: what is not a message is counted and
// dropped with its descriptors.
class SupervisionChannel {
 public:
  struct Received {
    enum class Outcome {
      kNothing,    // nothing has arrived yet
      kMessage,
      kTruncated,  // bytes or descriptors did not fit: out of descriptors, or a sender of another make
      kMalformed,  // decode_supervision_message() refuses it
      kEnd,        // the other end is closed, and everything that it sent has been received
    };
    Outcome outcome = Outcome::kNothing;
    SupervisionMessage message;    // kMessage
    std::vector<Descriptor> fds;   // likewise; closed across exec
  };

  SupervisionChannel() = default;  // closed
  explicit SupervisionChannel(Descriptor fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  bool open() const { return fd_.valid(); }
  // What is pending is dropped.
  void close();
  // Gives the socket away. REQUIRES: nothing is pending.
  Descriptor release() { return std::move(fd_); }

  // Sends one datagram, whole or not at all. The descriptors are duplicated, the caller's stay open. Errors:
  // UNAVAILABLE (the channel is full: try again when it is writable), FAILED_PRECONDITION (closed here or at the other
  // end), INTERNAL (anything else, for example a descriptor that is not open).
  absl::Status send(const SupervisionMessage& message, std::span<const int> fds = {});

  // Sends behind everything that was posted before: now or, if the channel is full, by flush(). A process that is gone
  // misses the message, which is no error: its end shows elsewhere.
  void post(const SupervisionMessage& message, std::span<const int> fds = {});
  // True while posted messages wait: call flush() when fd() is writable.
  bool pending() const { return !pending_.empty(); }
  void flush();

  Received receive();
  // Datagrams that were kTruncated or kMalformed.
  std::uint64_t refused() const { return refused_; }

 private:
  struct Pending {
    SupervisionMessage message;
    std::vector<Descriptor> fds;  // duplicates: the originals may be closed meanwhile
  };
  void make_room_for(const SupervisionMessage& message);

  Descriptor fd_;
  std::deque<Pending> pending_;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot
