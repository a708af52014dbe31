// How an application's core speaks to others: by one of the broadcasts, and by RCCE's sends where one speaks to one.
//
// Broadcasts lay out the message buffers (MPBs) in ways of their own. So going from sends to broadcasts or back is a
// step that all cores take together: all meet, each empties its MPB, all meet again, and both sides begin anew. That
// counts as communication. Versions that only send, or only broadcast, never pay it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/rcce/rcce.h"

namespace ingot::scc {

// Whom a rank exchanges with in which round, so that each pair of ranks meets once and nobody meets two at a time:
// -1: nobody. There are pair_rounds(ranks) rounds. (A round-robin tournament, by the circle method.)
int pair_rounds(int ranks);
int partner_of(int rank, int round, int ranks);

// Used by its core's program. All members are collective but `group` and `point_to_point`.
class Communication {
 public:
  // `algorithm`: null for point to point. REQUIRES: all lines of the group's MPBs are 0.
  Communication(Core& core, const BroadcastSetup& setup, const BroadcastAlgorithm* algorithm)
      : core_(core), setup_(setup), algorithm_(algorithm) {}

  const Group& group() const { return setup_.group; }
  bool point_to_point() const { return algorithm_ == nullptr; }

  // REQUIRES: !point_to_point().
  void broadcast(std::span<const Message> messages);

  // ---- Sends; ranks, not cores ----

  // The sends that all cores are about to make are RCCE's: returns its object.
  Rcce& sends();
  void send(Address from, std::size_t bytes, int to_rank);
  void receive(Address to, std::size_t bytes, int from_rank);

  // Every pair of ranks: what `outgoing` names goes to the peer, and what it sends goes to where `incoming` says, which
  // is asked with its size. Sizes travel first. `scratch`: two words of private memory.
  struct Piece {
    Address at = 0;
    std::size_t bytes = 0;
  };
  void exchange(absl::FunctionRef<Piece(int to_rank)> outgoing,
                absl::FunctionRef<Address(int from_rank, std::size_t bytes)> incoming, Address scratch);

  // Like send and receive, of a size that the receiver does not know. Returns it.
  void send_sized(Piece piece, int to_rank, Address scratch);
  std::size_t receive_sized(absl::FunctionRef<Address(std::size_t bytes)> where, int from_rank, Address scratch);

 private:
  void empty_mpb();

  Core& core_;
  const BroadcastSetup setup_;
  const BroadcastAlgorithm* const algorithm_;
  std::unique_ptr<Rcce> rcce_;            // one of these two at most
  std::unique_ptr<Broadcast> broadcast_;
};

}  // namespace ingot::scc
