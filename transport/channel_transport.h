// Transports over channels of lines, whatever the machine: what they count, and how their peers are replaced.
#pragma once

#include <cstddef>
#include <span>

#include "core/counters.h"
#include "core/types.h"
#include "transport/transport.h"

namespace ingot::inline transport {

// Counters of the traffic with one peer, in whole messages and their bytes; null: not counted.
struct LinkHooks {
  Counter* messages_sent = nullptr;
  Counter* bytes_sent = nullptr;
  Counter* messages_received = nullptr;
  Counter* bytes_received = nullptr;

  void count_sent(std::size_t bytes) const { count(messages_sent, bytes_sent, bytes); }
  void count_received(std::size_t bytes) const { count(messages_received, bytes_received, bytes); }

 private:
  static void count(Counter* messages, Counter* bytes_total, std::size_t bytes) {
    if (messages != nullptr) messages->add(1);
    if (bytes_total != nullptr) bytes_total->add(bytes);
  }
};

// A Transport whose peers may die and return as a new incarnation with a new inbox. The steps must come in the right
// order on both sides, which transport/host/peer_incarnations.h ensures. They concern one peer at a time; the other
// channels go on.
class ChannelTransport : public Transport {
 public:
  // For a peer that is gone: true once all that it had sent has been handed out, by calls of probe.
  virtual bool peer_settled(EndpointId peer) = 0;

  // The peer's next incarnation starts, with an empty channel in both directions. `inbox` is zero-filled except for
  // that incarnation's own writes, and outlives this object or the incarnation. No message was sent meanwhile, since
  // send returns "full" for a peer that is gone.
  // REQUIRES: peer_gone(peer) was called, and peer_settled(peer).
  virtual void peer_back(EndpointId peer, std::span<std::byte> inbox) = 0;

  // The new incarnation's side: this endpoint is new, and the peer may not have called peer_back yet. The channel is
  // full until peer_ready; then sending starts where the peer's inbox says.
  virtual void peer_unready(EndpointId peer) = 0;
  virtual void peer_ready(EndpointId peer) = 0;
};

}  // namespace ingot::transport
