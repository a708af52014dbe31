// The child's end of its control channel: SOCK_SEQPACKET, one datagram a message, descriptors beside the text.
//
//   child to supervisor   "ready"                        it runs
//                         "failed CODE TEXT"             it cannot start; CODE is an absl::StatusCode
//                         "snapshot SLOT INCARNATION"    + the published snapshot of the state before SLOT
//                         "instance ...", "described ..."        services/process/adoption.h
//   supervisor to child   "drain"                        end what is under way, then leave
//                         "leave"                        leave at once
//                         "life ENDPOINT INCARNATION"    + inbox [, stable segment]: an endpoint's next incarnation begins
//                         "snapshot SLOT INCARNATION"    + a published snapshot to keep for the next supervisor
//                         "describe", "adopted"          services/process/adoption.h
//
// The end of the channel without "leave" says that the supervisor has died: the child is an orphan.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "services/process/descriptor_passing.h"
#include "transport/host/descriptor.h"

namespace ingot {

// What a supervisor said. Its descriptors are the receiver's.
struct ControlWord {
  enum class Kind { kNone, kDrain, kLeave, kLife, kSnapshot, kDescribe, kAdopted, kGone };
  Kind kind = Kind::kNone;
  int endpoint = 0;               // kLife
  std::uint32_t incarnation = 0;  // kLife, kSnapshot
  std::uint64_t slot = 0;         // kSnapshot
  std::vector<Descriptor> fds;    // kLife: inbox, and a replica's stable segment; kSnapshot: one
};

// "failed CODE TEXT", shortened to what a datagram holds.
std::string failure_text(const absl::Status& why);

// Never fails: what is no word of the above (another version's, damaged) is kNone, and its descriptors are closed.
ControlWord parse_control_word(ReceivedMessage message);

// Not thread-safe. Nothing here blocks.
class ControlChannel {
 public:
  explicit ControlChannel(int fd) : fd_(fd) {}

  int fd() const { return fd_.get(); }
  void say_ready();
  void say_failed(const absl::Status& why);
  // Errors as for send_message.
  absl::Status send(std::string_view text, std::span<const int> fds = {}) { return send_message(fd_.get(), text, fds); }

  ControlWord read() { return parse_control_word(receive_message(fd_.get())); }

 private:
  Descriptor fd_;
};

}  // namespace ingot
