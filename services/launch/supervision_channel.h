// One end of the channel between the supervisor and one process of its instance: a Unix socket (SOCK_SEQPACKET) on
// which each message is one datagram, with descriptors of shared memory as ancillary data.
//
// If the channel ends without a Leave message, the supervisor has died: the process is an orphan
// (services/handover/adoption.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/launch/supervision_messages.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_launch {

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
  // UNAVAILABLE (the channel is full, or the kernel has no memory or does not let this user have more descriptors in
  // flight, or the other end has not accepted the connection and so takes no descriptors yet: try again when it is
  // writable, after a pause), FAILED_PRECONDITION (closed at this end or the other), INTERNAL (anything
  // else, for example a descriptor that is not open).
  absl::Status send(const SupervisionMessage& message, std::span<const int> fds = {});

  // For messages without descriptors. Sends one after those posted before it: now, or by flush() if the channel is
  // full. Of each kind only the newest waits: so no message may be posted that means a change to an earlier one.
  // Errors, of a message that is lost: FAILED_PRECONDITION, INTERNAL (as for send).
  absl::Status post(const SupervisionMessage& message);
  // True while posted messages wait: call flush() when fd() is writable.
  bool pending() const { return !pending_.empty(); }
  // Sends the posted messages while there is room. Errors, of the first message that is lost: as for post; the others
  // have gone out or wait.
  absl::Status flush();

  // Number of datagrams that were sent.
  std::uint64_t sent() const { return sent_; }

  Received receive();
  // Number of datagrams that were kTruncated or kMalformed.
  std::uint64_t refused() const { return refused_; }

 private:
  Descriptor fd_;
  std::deque<SupervisionMessage> pending_;
  std::uint64_t sent_ = 0;
  std::uint64_t refused_ = 0;
};

// Whether a descriptor is a socket of the channels' kind.
bool is_supervision_channel(int fd);

}  // namespace ingot::services_launch
