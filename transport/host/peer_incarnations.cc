#include "transport/host/peer_incarnations.h"

#include <utility>

#include "core/check.h"

namespace ingot::inline transport_host {

PeerIncarnations::PeerIncarnations(Fabric& fabric, ChannelTransport& transport, std::vector<Incarnation> incarnations)
    : fabric_(fabric), transport_(transport), self_(transport.self()), peers_(incarnations.size()) {
  INGOT_CHECK(static_cast<int>(incarnations.size()) == fabric.endpoints());
  for (std::size_t i = 0; i < peers_.size(); ++i) peers_[i].incarnation = incarnations[i];
  for (std::uint16_t i = 0; i < peers_.size(); ++i) {
    const EndpointId peer(i);
    if (peer == self_) continue;
    if (fabric_.accepted(self_, peer) != incarnation(peer)) fabric_.accept(self_, peer, incarnation(peer));
    if (accepts_us(peer)) continue;
    unready_.insert(peer);
    transport_.peer_unready(peer);
  }
}

bool PeerIncarnations::announce(PeerIncarnation announced) {
  INGOT_CHECK(announced.endpoint.value() < peers_.size() && announced.endpoint != self_,
              "an incarnation of another endpoint");
  Peer& peer = peers_[announced.endpoint.value()];
  if (announced.incarnation <= (peer.next ? peer.next->incarnation : peer.incarnation)) return false;
  announced_.insert(announced.endpoint);
  gone(announced.endpoint);
  peer.next = std::move(announced);
  return true;
}

void PeerIncarnations::gone(EndpointId peer) {
  if (gone_.contains(peer)) return;
  gone_.insert(peer);
  unready_.erase(peer);
  transport_.peer_gone(peer);
}

int PeerIncarnations::poll(absl::FunctionRef<void(EndpointId, Incarnation)> back) {
  int done = 0;
  for (const EndpointId peer : unready_) {
    if (!accepts_us(peer)) continue;
    unready_.erase(peer);
    transport_.peer_ready(peer);
    ++done;
  }
  for (const EndpointId peer : announced_) {
    if (!transport_.peer_settled(peer)) continue;
    go_over(peer, back);
    ++done;
  }
  return done;
}

void PeerIncarnations::go_over(EndpointId endpoint, absl::FunctionRef<void(EndpointId, Incarnation)> back) {
  Peer& peer = peers_[endpoint.value()];
  peer.incarnation = peer.next->incarnation;
  transport_.peer_back(endpoint, peer.next->inbox.bytes());
  peer.inbox = std::move(peer.next->inbox);  // unmaps the former inbox
  peer.next.reset();
  gone_.erase(endpoint);
  announced_.erase(endpoint);
  fabric_.accept(self_, endpoint, peer.incarnation);
  back(endpoint, peer.incarnation);
}

bool PeerIncarnations::readable() {
  for (const EndpointId peer : unready_) {
    if (accepts_us(peer)) return true;
  }
  for (const EndpointId peer : announced_) {
    if (transport_.peer_settled(peer)) return true;
  }
  return false;
}

}  // namespace ingot::transport_host
