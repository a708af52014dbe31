// Broadcasts along trees. Each message has its root, its number in the root's order and the version of its tree; a
// receiver forwards it to its children in that tree, and then handles it.
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
#include "core/gathered_message.h"
#include "core/types.h"
#include "replication/replica/trees/table.h"

namespace ingot::inline replication_replica_trees {

inline constexpr std::size_t kRelayHeaderBytes = 12;

// Each replica gets a message at most once, and in each root's order, whatever changes of trees happen meanwhile:
//  * A message travels by the one tree of its version, so no replica is sent it twice.
//  * A root's messages by an older tree may come after those by a newer one. They are forwarded and then dropped: to
//    this receiver they are lost. So are messages that an inner endpoint held when it stopped or died. The protocols
//    tolerate such losses (docs/agreement.md), as they do those of a full backlog.
//  * If a message's tree is not known here yet, its change has not been applied here. The message is handled at once,
//    and forwarded when the tree becomes known: within bounds, or it is lost to the replicas below.
//
// Not thread-safe; used by its replica's loop only.
class Relay {
 public:
  // Sends to a child, or queues, or drops if the child's backlog is full. The bytes are valid only during the call.
  using Send = absl::FunctionRef<void(EndpointId to, std::string_view bytes)>;
  // Hands a root's message to the protocol.
  using Deliver = absl::FunctionRef<void(EndpointId root, std::string_view message)>;

  // REQUIRES: table outlives this.
  Relay(EndpointId self, Incarnation incarnation, const TreeTable& table);

  // A message of this replica to all others.
  void broadcast(const GatheredMessage& message, Send send);

  // A message of class kRelayed from `from`.
  void receive(EndpointId from, std::string_view bytes, Send send, Deliver deliver);

  // The table has a new version: forwards the messages that waited for it.
  void table_changed(Send send);

  struct Counts {
    std::uint64_t forwarded = 0;  // copies forwarded for other roots
    std::uint64_t late = 0;       // overtaken by newer messages, not delivered
    std::uint64_t refused = 0;    // malformed, or from a replica that is not the parent in that tree
    std::uint64_t unforwarded = 0;  // not forwarded: the tree is forgotten, or too many messages waited for it
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
    std::uint16_t incarnation = 0;  // 0 if known is false
    std::uint32_t sequence = 0;     // of the newest delivered message
    bool known = false;
  };
  struct Held {
    Header header;
    std::string bytes;
  };

  // False: `from` is not the parent in the message's tree.
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

}  // namespace ingot::replication_replica_trees
