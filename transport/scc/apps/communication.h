// An application's communication: by one of the broadcasts, and by RCCE's sends between two cores.
//
// Each broadcast has its own layout of the message buffers (MPBs). So switching between sends and broadcasts is a
// collective step: all cores meet, each clears its MPB, all meet again, and both sides start afresh. That counts as
// communication. Versions that only send, or only broadcast, never need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/rcce/rcce.h"

namespace ingot::scc::inline transport_scc_apps {

// The partner of a rank in a round, such that each pair of ranks meets once and no rank has two partners at a time; -1:
// none. There are pair_rounds(ranks) rounds. (A round-robin tournament, by the circle method.)
int pair_rounds(int ranks);
int partner_of(int rank, int round, int ranks);

// Used by its core's program. All members except `group` and `point_to_point` are collective.
class Communication {
 public:
  // `algorithm`: null for point to point.
  // REQUIRES: all lines of the group's MPBs are 0.
  Communication(Core& core, const BroadcastSetup& setup, const BroadcastAlgorithm* algorithm)
      : core_(core), setup_(setup), algorithm_(algorithm) {}

  const Group& group() const { return setup_.group; }
  bool point_to_point() const { return algorithm_ == nullptr; }

  // REQUIRES: !point_to_point().
  void broadcast(std::span<const Message> messages);

  // ---- Sends; by ranks, not cores ----

  // Prepares for RCCE's sends by all cores; returns its object.
  Rcce& sends();
  void send(Address from, std::size_t bytes, int to_rank);
  void receive(Address to, std::size_t bytes, int from_rank);

  // For every pair of ranks: sends the piece that `outgoing` returns to the peer, and receives the peer's piece at the
  // place that `incoming` returns for its size. Sizes travel first. `scratch`: two words of private memory.
  struct Piece {
    Address at = 0;
    std::size_t bytes = 0;
  };
  void exchange(absl::FunctionRef<Piece(int to_rank)> outgoing,
                absl::FunctionRef<Address(int from_rank, std::size_t bytes)> incoming, Address scratch);

  // Like send and receive, for a size that the receiver does not know. Returns it.
  void send_sized(Piece piece, int to_rank, Address scratch);
  std::size_t receive_sized(absl::FunctionRef<Address(std::size_t bytes)> where, int from_rank, Address scratch);

 private:
  void empty_mpb();

  Core& core_;
  const BroadcastSetup setup_;
  const BroadcastAlgorithm* const algorithm_;
  std::unique_ptr<Rcce> rcce_;            // at most one of the two
  std::unique_ptr<Broadcast> broadcast_;
};

}  // namespace ingot::scc::transport_scc_apps
