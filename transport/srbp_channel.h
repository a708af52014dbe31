// SRBP, the synchronized ring-buffer protocol (Rotta, Prescher, Traue, Nolte): one ring per receiver, shared by all
// senders. One line a message: it carries its own sequence number, and the receiver polls a single word.
//
// A sender draws a ticket t, writes the line at place t mod K and stores t + 1 into it. The receiver takes lines in
// the order of tickets and publishes how far it came as `head`.
//
// Bounded without giving tickets back: a sender holds at most Q tickets at or above the head it last saw, and
// S * Q <= K. So of the K + 1 tickets t-K .. t one was passed in the eyes of its owner before that owner drew again,
// which had then seen a head above t-K; and since draws are ordered, whoever drew t sees all that the receiver did
// before it published that head. THE LAP RULE: who draws t sees everything up to the passing of ticket t - K.
//
// A sender that stops or dies between its draw and its publishing leaves a hole. The receiver knows it for one when a
// later ticket is published (or given up); it then PARKS the ticket: marks the place blocked, passes it, and goes on.
//
//  * Who draws a later ticket for that place sees by the lap rule that it is blocked; it gives the ticket up (says so
//    in given_up[]) and leaves the place alone. It gives up no other before the receiver has read that one.
//  * The late owner is alone with its place as long as it likes. When it publishes, the receiver, which looks at
//    parked tickets before it hands out anything else, delivers the line, late but in the order of its sender: that
//    one drew nothing in between. If instead it stopped before it looked, and finds its own place blocked, it gives
//    its ticket up.
//  * So every ticket is in the end published or given up by its owner, the receiver takes either, and the two need
//    not agree beforehand which: no counter is compared for age, and no length of sleep breaks it.
//  * Then the place is unblocked, with release. A ticket of it that was drawn meanwhile may still be given up.
//
// A parked ticket whose owner died is freed once nobody alive can own it: its owner has neither published nor given up
// any later ticket. Until the last silent endpoint has spoken again, the ring is shorter by that place.
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

namespace ingot {

// One endpoint's end. Used by its thread only.
template <Memory M>
class SrbpChannel {
 public:
  using Layout = SrbpLayout;
  static constexpr std::size_t kPayloadBytes = SrbpPlaces<M>::kPayloadBytes;  // per line

  // Goes on where the shared memory says: from zero where it is zero-filled. A new incarnation needs a new inbox of
  // its own, and each of its peers must have called peer_gone and found it settled.
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
  void publish(EndpointId) {}  // each line tells of itself

  // Hands lines to `on_line(from, header, payload)`, which returns true where a line completed a message, until
  // `limit` messages are complete or what had been published is read. Returns how many messages were completed.
  // Bounded: at most K lines and those that were parked.
  template <typename OnLine>
  int receive(int limit, OnLine&& on_line) {
    if (settled_ != gone_) send_commit_hint();
    auto on_foreign_line = [&](EndpointId from, const LineHeader& header, const std::byte* payload) {
      if (from.value() >= endpoints_) return false;  // corrupt: nobody's
      if (from != self()) return on_line(from, header, payload);
      settled_ = mark_;
      return false;
    };
    return receiver_.receive(memory_, limit, on_foreign_line);
  }

  bool readable() { return receiver_.readable(memory_); }
  // For a receiver that polls and never sleeps: true at once where the next line is there, as it nearly always is; what
  // lies behind a hole only readable tells.
  bool next_is_there() { return receiver_.next_is_there(memory_); }

  // The peer is dead: places that only it can hold are freed.
  void peer_gone(EndpointId peer) {
    receiver_.peer_gone(memory_, peer);
    // A ticket of our own, drawn after all of the peer's, tells when those are passed.
    settled_by_[peer.value()] = ++gone_;
    send_commit_hint();
  }

  // True once nothing of a peer that is gone is left in the ring. It takes calls of receive.
  bool peer_settled(EndpointId peer) { return settled_ >= settled_by_[peer.value()]; }

  // A next incarnation of the peer is about to start. REQUIRES: peer_settled(peer).
  void peer_back(EndpointId peer) {
    receiver_.peer_back(memory_, peer);
    sender_.peer_back(peer);
  }

  // The peer has done that for this incarnation: goes on sending where its inbox says.
  void peer_ready(EndpointId peer) { sender_.peer_ready(memory_, peer); }

  // Tickets that the receiver has passed before their owners had published them, since it began.
  std::uint64_t tickets_parked() const { return receiver_.tickets_parked(); }

 private:
  // One mark at a time; it serves all who were gone before it was drawn.
  void send_commit_hint() {
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

}  // namespace ingot
