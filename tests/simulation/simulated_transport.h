// One endpoint's end of the simulated network, as a Transport; and how it switches to its peers' next incarnations.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/simulation/network.h"
#include "transport/transport.h"

namespace ingot::simulation {

// A channel is with one incarnation, as on the host (transport/host/peer_incarnations.h). Nothing is sent to an
// incarnation that is known to be dead. A successor's messages are taken only after all messages of its predecessor are
// read. A successor sends nothing to an endpoint that has not switched to it. Not thread-safe.
class SimulatedTransport final : public Transport {
 public:
  // `messages_max`: the most messages that one probe reads from each peer. REQUIRES: network outlives this.
  SimulatedTransport(int self, Network& network, int messages_max)
      : self_(self), network_(network), messages_max_(messages_max) {}

  EndpointId self() const override { return EndpointId(static_cast<std::uint16_t>(self_)); }
  bool send(EndpointId dest, std::span<const std::byte> message) override { return send_gathered(dest, message); }
  bool send_gathered(EndpointId dest, const GatheredMessage& message) override;
  int probe(Handler handler, int limit) override;
  bool flush() override { return false; }
  bool parts_moved() override { return false; }
  bool readable() override { return network_.next_arrival(self_) <= network_.now(); }
  void peer_gone(EndpointId peer) override { closed_ |= mask_of(peer); }

  // Until open() nothing is sent to the peer: it is dead, or has not switched to this incarnation.
  void close(EndpointId peer) { closed_ |= mask_of(peer); }
  void open(EndpointId peer) { closed_ &= ~mask_of(peer); }
  bool is_open(EndpointId peer) const { return (closed_ & mask_of(peer)) == 0; }
  // Whether all messages that the peer had sent are handed out.
  bool settled(EndpointId peer) const { return (network_.senders(self_) & mask_of(peer)) == 0; }
  bool has_room(EndpointId peer) const { return is_open(peer) && network_.has_room(self_, peer.value()); }

 private:
  static std::uint64_t mask_of(EndpointId peer) { return std::uint64_t{1} << peer.value(); }

  const int self_;
  Network& network_;
  const int messages_max_;
  std::uint64_t closed_ = 0;  // bit by peer
  std::string message_;       // being handed out
};

}  // namespace ingot::simulation
