// SRBP, the synchronized ring-buffer protocol (Rotta, Prescher, Traue, Nolte): one ring per receiver, shared by all
// senders. One line a message: it carries its own sequence number, and the receiver polls a single word.
//
// A sender draws a ticket t, writes the line at place t mod K and stores t + 1 into it. The receiver takes lines in the
// order of tickets and publishes its progress as `head`.
//
// Tickets are bounded without being returned: a sender holds at most Q tickets at or above the head it last saw, and S
// * Q <= K. So among the K + 1 tickets t-K .. t there is one whose owner knew it to be passed before it drew again, and
// had then seen a head above t-K. Since draws are ordered, the sender that drew t sees all that the receiver did before
// it published that head. THE LAP RULE: the sender that draws t sees everything up to the passing of ticket t - K.
//
// A sender that stops or dies between its draw and its publication leaves a hole. The receiver recognizes it when a
// later ticket is published (or given up). It then PARKS the ticket: marks the place blocked, passes it, and goes on.
//
//  * A sender that draws a later ticket for that place sees by the lap rule that it is blocked. It gives the ticket up
//    (recorded in given_up[]) and does not use the place. It gives up no other ticket before the receiver has noted
//    that one.
//  * The late owner has its place to itself, however long it takes. When it publishes, the receiver, which checks
//    parked tickets before it hands out anything else, delivers the line: late, but in the order of its sender, which
//    drew no ticket in between. If the owner stopped before it checked for a blocked place, and then finds its own
//    place blocked, it gives its ticket up instead.
//  * So the owner of every ticket finally publishes it or gives it up, and the receiver accepts either; the two need
//    not agree beforehand. No counter is compared for age, and no length of sleep breaks this.
//  * Then the place is unblocked, with release. A ticket of it that was drawn meanwhile may still be given up.
//
// A parked ticket whose owner died is freed once no living endpoint can own it: an endpoint does not own it if it has
// published or given up a later ticket. Until the last silent endpoint has sent again, the ring is shorter by that
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "transport/fragments.h"
#include "transport/memory.h"
#include "transport/srbp_layout.h"
#include "transport/srbp_receiver.h"
#include "transport/srbp_sender.h"

namespace ingot::inline transport {

// One endpoint's end. Used by its thread only.
template <Memory M>
class SrbpChannel {
 public:
  using Layout = SrbpLayout;
  static constexpr std::size_t kPayloadBytes = SrbpPlaces<M>::kPayloadBytes;  // per line

  // Continues where the shared memory says: from zero if it is zero-filled. A new incarnation needs a new inbox, and
  // each of its peers must have called peer_gone and found it settled.
  SrbpChannel(M memory, const Layout& layout)
      : memory_(std::move(memory)),
        endpoints_(layout.endpoints),
        sender_(memory_, SrbpPlaces<M>(layout)),
        receiver_(memory_, SrbpPlaces<M>(layout)),
        settled_by_(static_cast<std::size_t>(layout.endpoints)) {
    for (std::uint16_t i = 0; i < layout.endpoints; ++i) {
      INGOT_CHECK(memory_.inbox_lines(EndpointId(i)) >= layout.inbox_lines(M::kLineBytes), "an inbox is too small");
    }
  }

  EndpointId self() const { return memory_.self(); }
  int endpoints() const { return endpoints_; }
  M& memory() { return memory_; }

  // Writes one line to `dest`. False: full for this sender, nothing sent.
  [[nodiscard]] bool write_line(EndpointId dest, LineHeader header, std::span<const std::byte> payload) {
    return sender_.write_line(memory_, dest, header, payload);
  }
  void publish(EndpointId) {}  // each line publishes itself

  // Passes lines to `on_line(from, header, payload)`, which returns true for a line that completes a message, until
  // `limit` messages are complete or all published lines are read. Returns the number of completed messages. Bounded:
  // at most K lines and the parked ones.
  template <typename OnLine>
  int receive(int limit, OnLine&& on_line) {
    if (settled_ != gone_) send_mark();
    auto on_foreign_line = [&](EndpointId from, const LineHeader& header, std::span<const std::byte> payload) {
      if (from.value() >= endpoints_) return false;  // corrupt
      if (from != self()) return on_line(from, header, payload);
      settled_ = mark_;
      return false;
    };
    return receiver_.receive(memory_, limit, on_foreign_line);
  }

  bool readable() { return receiver_.readable(memory_); }
  // For a receiver that polls and never sleeps: true at once if the next line is there, as it nearly always is. Only
  // readable finds lines behind a hole.
  bool next_is_there() { return receiver_.next_is_there(memory_); }

  // The peer is dead: frees the places that only it can hold.
  void peer_gone(EndpointId peer) {
    receiver_.peer_gone(memory_, peer);
    // A ticket of this endpoint, drawn after all of the peer's, shows when those are passed.
    settled_by_[peer.value()] = ++gone_;
    send_mark();
  }

  // True once all lines of a peer that is gone are read, by calls of receive.
  bool peer_settled(EndpointId peer) { return settled_ >= settled_by_[peer.value()]; }

  // A next incarnation of the peer is about to start.
  // REQUIRES: peer_settled(peer).
  void peer_back(EndpointId peer) {
    receiver_.peer_back(memory_, peer);
    sender_.peer_back(peer);
  }

  // The peer has called peer_back for this incarnation: continues sending where its inbox says.
  void peer_ready(EndpointId peer) { sender_.peer_ready(memory_, peer); }

  // Tickets that the receiver passed before their owners published them, since it was made.
  std::uint64_t tickets_parked() const { return receiver_.tickets_parked(); }

 private:
  // One mark at a time; it serves all peers that were gone before it was drawn.
  void send_mark() {
    const LineHeader mark{self(), true, true, 0};
    if (mark_ == settled_ && sender_.write_line(memory_, self(), mark, {})) mark_ = gone_;
  }

  M memory_;
  int endpoints_;
  SrbpSender<M> sender_;
  SrbpReceiver<M> receiver_;
  std::vector<std::uint64_t> settled_by_;  // by peer: the death after which a mark must have been read
  std::uint64_t gone_ = 0;                 // deaths so far
  std::uint64_t mark_ = 0;                 // deaths before the last mark was drawn
  std::uint64_t settled_ = 0;              // deaths before the last mark that was read
};

}  // namespace ingot::transport
