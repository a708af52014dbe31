// The receiving half of SRBP (transport/srbp_channel.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/fragments.h"
#include "transport/limits.h"
#include "transport/memory.h"
#include "transport/srbp_layout.h"
#include "transport/srbp_parking.h"

namespace ingot::inline transport {

// One endpoint's own ring as its reader. Used by its thread only.
template <Memory M>
class SrbpReceiver {
 public:
  SrbpReceiver(M& memory, const SrbpPlaces<M>& places)
      : places_(places), self_(memory.self()), polls_left_(places.layout().polls_per_scan) {
    head_ = returned_ = memory.load_word(places_.head(memory, self_), 0, Site::kRelaxed);
    unblocked_ = head_ - places_.count();
    const int endpoints = places_.layout().endpoints;
    known_.resize(static_cast<std::size_t>(endpoints));
    for (std::uint16_t i = 0; i < endpoints; ++i) {
      known_[i] = memory.load_word(places_.known(memory, self_, EndpointId(i)), places_.word_of(EndpointId(i)),
                                   Site::kRelaxed);
      alive_.set(i);
    }
  }

  // As SrbpChannel::receive. Lines of a parked ticket go out as soon as they are published, and before any younger line
  // of the same sender.
  template <typename OnLine>
  int receive(M& memory, int limit, OnLine& on_line) {
    int messages = parked_.empty() ? 0 : receive_parked(memory, limit, on_line);
    for (Word lines = 0; messages < limit && lines < places_.count(); ++lines) {
      if (published(memory, head_, Site::kSrbpPoll)) {
        // The poll of the head made visible what that line's sender had done before, so its own late line is found now.
        if (!parked_.empty()) messages += receive_parked(memory, limit - messages, on_line);
        if (messages == limit) break;
        const Word ticket = head_++;
        messages += hand_out(memory, ticket, parked_.size(), on_line);
      } else if (!pass_unpublished(memory)) {
        break;
      }
    }
    if (head_ != returned_) return_head(memory);
    return messages;
  }

  // Checks the single word that is polled, and those of parked tickets, if any. Does not find lines behind a new hole.
  bool next_is_there(M& memory) {
    if (published(memory, head_, Site::kSrbpPoll)) return true;
    for (std::size_t i = 0; i < parked_.size(); ++i) {
      if (published(memory, parked_.ticket(i), Site::kSrbpPollParked)) return true;
    }
    return false;
  }
  // Before a sleep: also checks for lines behind a hole, at the cost of a line for every endpoint.
  bool readable(M& memory) {
    return next_is_there(memory) || later_tickets_resolved(memory) ||
           (may_be_given_up() && any_gave_up_readable(memory));
  }

  // No incarnation of `peer` draws tickets from now on, until peer_back.
  void peer_gone(M& memory, EndpointId peer) {
    alive_.reset(peer.value());
    parked_.exclude(peer, parked_.size());
    free_ownerless(memory);
    if (head_ != returned_) return_head(memory);
  }
  void peer_back(M& memory, EndpointId peer) {
    alive_.set(peer.value());
    // The last ticket that it gave up may have been freed without being noted.
    while (gave_up_readable(memory, peer)) take_note(memory, peer);
    return_head(memory);
  }

  std::uint64_t tickets_parked() const { return tickets_parked_; }

 private:
  bool published(M& memory, Word ticket, Site site) {
    return memory.load_word(places_.place(memory, self_, ticket), 0, site) == ticket + 1;
  }

  // Reads the line of a published ticket; it is younger than the first `older` parked ones. Returns 1 if it completed
  // a message.
  template <typename OnLine>
  int hand_out(M& memory, Word ticket, std::size_t older, OnLine& on_line) {
    alignas(M::kLineBytes) std::byte payload[M::kLineBytes];
    const auto place = places_.place(memory, self_, ticket);
    const LineHeader header = LineHeader::decode(memory.load_word(place, 1, Site::kRelaxed));
    memory.copy_out(place, SrbpPlaces<M>::kPayloadOffset, payload, SrbpPlaces<M>::kPayloadBytes);
    if (older != 0) parked_.exclude(header.sender, older);
    const std::size_t bytes = std::min<std::size_t>(header.bytes, SrbpPlaces<M>::kPayloadBytes);
    return on_line(header.sender, header, std::span<const std::byte>(payload, bytes)) ? 1 : 0;
  }

  void return_head(M& memory) {
    returned_ = head_;
    memory.store_word(places_.head(memory, self_), 0, head_, Site::kSrbpReturnHead);
  }

  // ---- Places that stay empty ----

  // Handles an unpublished ticket at head. Returns true if it was passed all the same: given up by its owner, or
  // parked. If too many tickets are parked, it is waited for.
  bool pass_unpublished(M& memory) {
    if (may_be_given_up() && given_up(memory, head_, parked_.size())) {
      ++head_;
      return true;
    }
    if (--polls_left_ > 0) return false;
    polls_left_ = places_.layout().polls_per_scan;
    if (!later_tickets_resolved(memory)) return false;
    if (suspect_ != head_) scans_ = 0;
    suspect_ = head_;
    if (++scans_ < kSrbpScansToPark || parked_.size() >= places_.count()) return false;
    park(memory);
    return true;
  }

  // A sender that saw a blocked place has given a ticket up at most one lap after the last place was unblocked.
  bool may_be_given_up() const { return !parked_.empty() || head_ - unblocked_ < places_.count(); }

  // True if the owner of that ticket has given it up; notes that, which the owner sees with the next return of head.
  bool given_up(M& memory, Word ticket, std::size_t older) {
    for (std::uint16_t i = 0; i < known_.size(); ++i) {
      const EndpointId sender(i);
      if (!gave_up_readable(memory, sender) || which(memory, sender) != ticket) continue;
      take_note(memory, sender);
      parked_.exclude(sender, older);
      return true;
    }
    return false;
  }

  // True if the sender has given up a ticket that is not noted. It waits for the note, so there is at most one.
  bool gave_up_readable(M& memory, EndpointId sender) {
    return memory.load_word(places_.given_up(memory, self_, sender), places_.word_of(sender), Site::kSrbpSeeGivenUp) !=
           known_[sender.value()];
  }
  Word which(M& memory, EndpointId sender) {
    return memory.load_word(places_.which(memory, self_, sender), places_.word_of(sender), Site::kRelaxed);
  }
  void take_note(M& memory, EndpointId sender) {
    memory.store_word(places_.known(memory, self_, sender), places_.word_of(sender), ++known_[sender.value()],
                      Site::kRelaxed);
  }

  bool any_gave_up_readable(M& memory) {
    for (std::uint16_t i = 0; i < known_.size(); ++i) {
      if (gave_up_readable(memory, EndpointId(i))) return true;
    }
    return false;
  }

  // True if a ticket beyond head is published or given up: then head's has been drawn, too, and its owner is late.
  // Every endpoint holds at most one ticket that is neither, so checking S places ahead finds one if there is any.
  bool later_tickets_resolved(M& memory) {
    const Word ahead = std::min(static_cast<Word>(known_.size()), places_.count() - 1);
    for (Word i = 1; i <= ahead; ++i) {
      if (published(memory, head_ + i, Site::kRelaxed)) return true;
    }
    if (!may_be_given_up()) return false;
    for (std::uint16_t i = 0; i < known_.size(); ++i) {
      if (gave_up_readable(memory, EndpointId(i)) && which(memory, EndpointId(i)) - head_ < places_.count())
        return true;
    }
    return false;
  }

  // ---- Parked tickets ----

  void park(M& memory) {
    EndpointSet owners = alive_;
    owners.reset(self_.value());
    // Visible to the sender that draws this place's next ticket: it has seen head by then, which is returned after
    // this.
    memory.store_byte(places_.blocked_line(memory, self_, head_), places_.blocked_byte(head_), 1, Site::kRelaxed);
    parked_.add(head_++, owners);
    ++tickets_parked_;
    free_ownerless(memory);
  }

  // Takes parked ticket i off the list, and unblocks its place unless another parked ticket has it.
  void unpark(M& memory, std::size_t i) {
    const Word ticket = parked_.ticket(i);
    parked_.remove(i);
    if (parked_.blocks(ticket, places_.count())) return;
    unblocked_ = head_;
    memory.store_byte(places_.blocked_line(memory, self_, ticket), places_.blocked_byte(ticket), 0,
                      Site::kSrbpUnblock);
  }

  // A published line is left: its owner died after that, or has resolved a later ticket, and receive() hands it out.
  void free_ownerless(M& memory) {
    for (std::size_t i = parked_.size(); i-- > 0;) {
      const bool empty = parked_.ownerless(i) && !published(memory, parked_.ticket(i), Site::kSrbpPollParked);
      if (empty) unpark(memory, i);
    }
  }

  template <typename OnLine>
  int receive_parked(M& memory, int limit, OnLine& on_line) {
    int messages = 0;
    for (std::size_t i = next_published(memory); messages < limit && i < parked_.size(); i = next_published(memory)) {
      messages += hand_out(memory, parked_.ticket(i), i, on_line);
      unpark(memory, i);
    }
    for (std::size_t i = parked_.size(); i-- > 0;) {
      if (given_up(memory, parked_.ticket(i), i)) {
        unpark(memory, i);
        return_head(memory);  // makes the note leave a private buffer
      }
    }
    free_ownerless(memory);
    return messages;
  }

  // Index of a published parked ticket whose sender has no older published one, or parked_.size(). Seeing a line makes
  // its sender's older ones visible, so after each find the older tickets are checked again.
  std::size_t next_published(M& memory) {
    std::size_t found = parked_.size();
    for (std::size_t i = 0; i < found; ++i) {
      if (!published(memory, parked_.ticket(i), Site::kSrbpPollParked)) continue;
      found = i;
      i = std::size_t(-1);
    }
    return found;
  }

  SrbpPlaces<M> places_;
  const EndpointId self_;
  Word head_ = 0;       // tickets below it are consumed, given up or parked
  Word returned_ = 0;   // head as senders see it
  Word unblocked_ = 0;  // head when a place was last unblocked
  Word suspect_ = 0;    // head at the last scan that found later tickets
  int scans_ = 0;       // such scans of that head
  int polls_left_;      // at an unpublished head, until the next scan
  std::uint64_t tickets_parked_ = 0;
  std::vector<Word> known_;  // by sender: as in memory
  EndpointSet alive_;
  SrbpParking parked_;
};

}  // namespace ingot::transport
