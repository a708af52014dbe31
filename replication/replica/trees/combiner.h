// Answer combining: an inner endpoint of a tree waits a little for equal answers from below, and sends one for all.
//
//   combined  u8 MessageClass::kCombined  u8 root  u16 0  u32 version  u64 bit n: replica n answered so
//             the answer to the end
//
// Answers are compared as bytes only. The root separates them again, so the protocol sees the same answers as without a
// tree. Pure: time is the number of ticks.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "replication/replica/trees/table.h"

namespace ingot::inline replication_replica_trees {

inline constexpr std::size_t kCombinedHeaderBytes = 16;

// An answer is lost only where any message would be: in an endpoint that dies, or in a full backlog. An answer whose
// tree is unknown here, or forgotten, goes to the root directly.
//
// Bounds: an answer waits for kCombineTicks at most, and at most kCombinedAnswersMax different ones wait; beyond that
// the oldest is sent on. Not thread-safe; used by its replica's loop only.
class AnswerCombiner {
 public:
  using Send = absl::FunctionRef<void(EndpointId to, std::string_view bytes)>;
  using Deliver = absl::FunctionRef<void(EndpointId from, std::string_view answer)>;

  // REQUIRES: table outlives this.
  AnswerCombiner(EndpointId self, const TreeTable& table) : self_(self.value()), table_(table) {}

  // An answer of this replica to `root`.
  void answer(EndpointId root, std::string_view message, Send send);

  // A message of class kCombined. Returns false if it is malformed.
  bool receive(std::string_view bytes, Send send, Deliver deliver);

  void tick(Send send);
  bool wants_tick() const { return !waiting_.empty(); }

 private:
  struct Waiting {
    int root;
    std::uint32_t version;
    ReplicaSet who;
    int ticks;
    std::string answer;
  };

  void add(int root, std::uint32_t version, ReplicaSet who, std::string_view answer, Send send);
  void pass_on(int root, std::uint32_t version, ReplicaSet who, std::string_view answer, Send send) const;

  const int self_;
  const TreeTable& table_;
  std::deque<Waiting> waiting_;  // oldest first
};

}  // namespace ingot::replication_replica_trees
