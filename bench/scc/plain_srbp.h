// SRBP as the papers describe it, without Ingot's precautions against senders that stop or die: a baseline.
//
// A sender draws a ticket from the receiver's FPGA counter, and writes one line, which carries the ticket, at its place
// in the receiver's ring. The receiver polls the word of the next ticket. What the papers leave open is done in the
// cheapest way: a sender has a quota of places, and reads the receiver's head only when it has used that up. A sender
// that dies between its draw and its line blocks the ring for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/scc/core.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc {

// One core's end; it has its MPB to itself. Used by that core's program.
class PlainSrbp {
 public:
  PlainSrbp(Core& core, const Group& group);

  // Takes messages in while it waits for room. `message` is not empty.
  void send(int to_core, std::span<const std::byte> message);
  // The next message from that core.
  std::vector<std::byte> receive(int from_core);

 private:
  struct Peer {
    std::deque<std::uint32_t> tickets;            // drawn, and not known to be passed
    std::deque<std::vector<std::byte>> arrived;   // whole messages from it
    std::vector<std::byte> part;                  // of the next one
  };

  Peer& peer(int core) { return peers_[static_cast<std::size_t>(group_.rank(core))]; }
  Address place(int core, std::uint32_t ticket) const { return mpb_line(core, 1 + ticket % places_); }
  bool next_is_there();
  bool room_at(int to_core);
  void send_line(int to_core, std::size_t message_bytes, std::span<const std::byte> part);
  void take();

  Core& core_;
  const Group group_;
  const std::uint32_t quota_;   // places of one sender in one ring
  const std::uint32_t places_;  // of a ring
  std::uint32_t head_ = 0;      // tickets below it are read
  std::vector<Peer> peers_;     // by rank
};

}  // namespace ingot::scc
