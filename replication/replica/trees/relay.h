// Broadcasts along trees. Each message names its root, its place in the root's order and the version of the trees that
// it travels by; who receives it passes it on to its children in that tree, and then handles it.
//
//   broadcast  u8 MessageClass::kRelayed  u8 root  u16 low half of the root's incarnation  u32 version  u32 sequence
//              the message to the end
//
// Pure: messages in, sends and deliveries out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/types.h"
#include "replication/replica/trees/table.h"

namespace ingot {

inline constexpr std::size_t kRelayHeaderBytes = 12;

// Exactly once or not at all, and in each root's order, whatever the trees do meanwhile:
//  * A message travels by the one tree that it names, so nobody is sent it twice.
//  * What a root sent by an older tree may come after what it sent by a newer one. It is passed on, and then dropped:
//    to its receiver it is lost. So are messages that an inner endpoint held when it stopped or died. The protocols
//    above take losses (docs/agreement.md), as they do from a full backlog.
//  * A tree that is not known here yet is one whose change has not been applied here. The message is handled at once,
//    and passed on when the tree becomes known: within bounds, or lost to those below.
//
// Not thread-safe; used by its replica's loop only.
class Relay {
 public:
  // Sends to a child, or queues for it, or drops if its backlog is full. The bytes are valid during the call only.
  using Send = absl::FunctionRef<void(EndpointId to, std::string_view bytes)>;
  // Hands a root's message to the protocol.
  using Deliver = absl::FunctionRef<void(EndpointId root, std::string_view message)>;

  // REQUIRES: table outlives this.
  Relay(EndpointId self, Incarnation incarnation, const TreeTable& table);

  // A message of this replica to all others.
  void broadcast(std::string_view message, Send send);

  // A message of class kRelayed from `from`.
  void receive(EndpointId from, std::string_view bytes, Send send, Deliver deliver);

  // The table has a new version: passes on what waited for it.
  void table_changed(Send send);

  struct Counts {
    std::uint64_t forwarded = 0;  // copies sent on for others
    std::uint64_t late = 0;       // overtaken by newer ones, not delivered
    std::uint64_t refused = 0;    // malformed, or from somebody who is not above us in that tree
    std::uint64_t unforwarded = 0;  // not passed on: the tree is forgotten, or too many waited for theirs
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Header {
    int root;
    std::uint16_t incarnation;
    std::uint32_t version;
    std::uint32_t sequence;
  };
  struct Latest {
    std::uint16_t incarnation = 0;  // 0 with known == false
    std::uint32_t sequence = 0;     // of the newest delivered one
    bool known = false;
  };
  struct Held {
    Header header;
    std::string bytes;
  };

  // False: the sender is not the one to have this from.
  bool forward(EndpointId from, const Header& header, std::string_view bytes, Send send);
  void hold(const Header& header, std::string_view bytes);
  bool is_new(const Header& header);

  const EndpointId self_;
  const std::uint16_t incarnation_;
  const TreeTable& table_;
  std::uint32_t next_sequence_ = 1;
  std::vector<Latest> latest_;  // by root
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  Counts counts_;
};

}  // namespace ingot
