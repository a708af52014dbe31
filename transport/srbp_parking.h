// Tickets that an SRBP receiver passed before they were published: their possible owners, and the places they block.
#pragma once

#include <bitset>
#include <cstddef>
#include <vector>

#include "core/types.h"
#include "transport/limits.h"
#include "transport/memory.h"

namespace ingot::inline transport {

using EndpointSet = std::bitset<kChannelEndpointsMax>;

// In order of tickets, oldest first. Private to its receiver.
class SrbpParking {
 public:
  bool empty() const { return parked_.empty(); }
  std::size_t size() const { return parked_.size(); }
  Word ticket(std::size_t i) const { return parked_[i].ticket; }

  // Parks a ticket newer than all parked ones. `owners`: endpoints that may hold it.
  void add(Word ticket, const EndpointSet& owners) { parked_.push_back({ticket, owners}); }

  void remove(std::size_t i) { parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(i)); }

  // `sender` published or gave up a ticket newer than the first `older` parked ones. It finishes with one ticket
  // before it draws another, so it holds none of these.
  void exclude(EndpointId sender, std::size_t older) {
    for (std::size_t i = 0; i < older; ++i) parked_[i].owners.reset(sender.value());
  }

  // True if no living endpoint can hold the ticket any more.
  bool ownerless(std::size_t i) const { return parked_[i].owners.none(); }

  // True if a parked ticket has the place of `ticket` (places: a power of two).
  bool blocks(Word ticket, Word places) const {
    for (const Parked& each : parked_) {
      if (((each.ticket ^ ticket) & (places - 1)) == 0) return true;
    }
    return false;
  }

 private:
  struct Parked {
    Word ticket;
    EndpointSet owners;
  };
  std::vector<Parked> parked_;
};

}  // namespace ingot::transport
