// The sending half of SRBP (transport/srbp_channel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/fragments.h"
#include "transport/memory.h"
#include "transport/srbp_layout.h"

namespace ingot::inline transport {

// An endpoint's knowledge of the rings that it sends to. Used by its thread only.
template <Memory M>
class SrbpSender {
 public:
  SrbpSender(M& memory, const SrbpPlaces<M>& places)
      : places_(places), quota_(static_cast<Word>(places.layout().tickets_per_sender)) {
    const auto endpoints = static_cast<std::size_t>(places_.layout().endpoints);
    tickets_.resize(endpoints * quota_);
    out_.resize(endpoints);
    for (std::uint16_t i = 0; i < endpoints; ++i) peer_ready(memory, EndpointId(i));
  }

  // Writes and publishes one line. False, with nothing sent: the quota is used up, or the place drawn was blocked and
  // the receiver has not yet passed it.
  [[nodiscard]] bool write_line(M& memory, EndpointId dest, LineHeader header, std::span<const std::byte> payload) {
    Out& out = out_[dest.value()];
    if (out.drawn - out.passed == quota_ && !take_head(memory, dest, out)) return false;
    if (out.given_up != out.known && !take_known(memory, dest, out)) return false;
    const Word ticket =
        memory.draw(places_.ticket(memory, dest), Site::kSrbpDrawAcquire, Site::kSrbpDrawRelease);
    ticket_at(dest, out.drawn++) = ticket;
    // Sees every ticket that was parked before a place of this lap could be drawn, since the draw comes after them.
    if (memory.load_byte(places_.blocked_line(memory, dest, ticket), places_.blocked_byte(ticket),
                         Site::kSrbpCheckBlocked) != 0) [[unlikely]] {
      give_up(memory, dest, out, ticket);
      return false;
    }
    const auto place = places_.place(memory, dest, ticket);
    memory.store_word(place, 1, header.encode(), Site::kRelaxed);
    memory.copy_in(place, SrbpPlaces<M>::kPayloadOffset, payload);
    memory.store_word(place, 0, ticket + 1, Site::kSrbpPublish);
    return true;
  }

  // Starts afresh in that endpoint's inbox, whose receiver may not have noted a ticket that an earlier incarnation gave
  // up.
  void peer_ready(M& memory, EndpointId peer) {
    out_[peer.value()] = {};
    out_[peer.value()].given_up = memory.load_word(places_.given_up(memory, peer, memory.self()),
                                                   places_.word_of(memory.self()), Site::kRelaxed);
  }

  // That endpoint's inbox is zero-filled again.
  void peer_back(EndpointId peer) { out_[peer.value()] = {}; }

 private:
  struct Out {
    Word drawn = 0;     // tickets drawn by this object
    Word passed = 0;    // of these, tickets that the receiver is known to have passed
    Word given_up = 0;  // as in memory
    Word known = 0;     // as last seen in memory
  };

  Word& ticket_at(EndpointId dest, Word number) { return tickets_[dest.value() * quota_ + (number & (quota_ - 1))]; }

  bool take_head(M& memory, EndpointId dest, Out& out) {
    const Word head = memory.load_word(places_.head(memory, dest), 0, Site::kSrbpTakeHead);
    // A ticket that is not passed is less than a lap ahead of head. Only the difference counts, so neither the wrap of
    // tickets nor a long silence of this sender matters.
    while (out.passed != out.drawn && ticket_at(dest, out.passed) - head >= places_.count()) ++out.passed;
    return out.drawn - out.passed != quota_;
  }

  bool take_known(M& memory, EndpointId dest, Out& out) {
    const EndpointId self = memory.self();
    out.known = memory.load_word(places_.known(memory, dest, self), places_.word_of(self), Site::kSrbpTakeHead);
    return out.given_up == out.known;
  }

  void give_up(M& memory, EndpointId dest, Out& out, Word ticket) {
    const EndpointId self = memory.self();
    const Word word = places_.word_of(self);
    memory.store_word(places_.which(memory, dest, self), word, ticket, Site::kRelaxed);
    memory.store_word(places_.given_up(memory, dest, self), word, ++out.given_up, Site::kSrbpGiveUp);
  }

  SrbpPlaces<M> places_;
  Word quota_;
  std::vector<Word> tickets_;  // by destination, a ring of the last `quota_` tickets
  std::vector<Out> out_;       // by destination
};

}  // namespace ingot::transport
