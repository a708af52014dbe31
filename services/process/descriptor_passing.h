// Datagrams with descriptors over a Unix socket (SOCK_SEQPACKET): how the processes of an instance hand each other
// shared memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "transport/host/descriptor.h"

namespace ingot {

inline constexpr std::size_t kControlMessageBytesMax = 4096;  // text of one datagram; more is a bug (CHECK)
// Descriptors of one datagram; more is a bug (CHECK). The kernel's own limit is 253. Who has more sends several.
inline constexpr std::size_t kControlDescriptorsMax = 200;

// Sends one datagram, whole or not at all; never blocks. The descriptors are duplicated, the caller's stay open.
// Errors: UNAVAILABLE (the socket is full: try again when it is writable), FAILED_PRECONDITION (nobody reads it any
// more), INTERNAL (anything else, for example a descriptor that is not open). REQUIRES: text not empty, within the
// bounds above.
absl::Status send_message(int fd, std::string_view text, std::span<const int> fds = {});

struct ReceivedMessage {
  enum class Outcome {
    kNothing,  // nothing has arrived yet
    kMessage,
    kDamaged,  // text or descriptors did not fit and are dropped: out of descriptors, or a sender of another make
    kEnd,      // the other end is closed, and everything that it sent has been received
  };
  Outcome outcome = Outcome::kNothing;
  std::string text;
  std::vector<Descriptor> fds;  // closed across exec
};

// Receives one datagram; never blocks.
ReceivedMessage receive_message(int fd);

}  // namespace ingot
