// How the endpoints of a fabric switch to a peer's next incarnation: pairwise, without a barrier, while all other
// channels go on.
//
// D dies. The supervisor makes an inbox for its next incarnation D'(i), tells every running process, and starts D' with
// the newest inboxes of all endpoints. Between D' and each other endpoint X:
//
//   X    gone      X sends nothing more to D
//        settled   X has handed out all that D had sent completely; D's unfinished messages never come
//        back      X maps the new inbox in place of the old; the channel is empty in both directions
//        accepted[X][D] = i, with release; wakes D'
//   D'   ready     D' sees its own incarnation there, and starts to send to X
//
// So no message of D can be taken for one of D': X reads what D wrote before it lets D' write there, and D' reads an
// inbox that no sender to D ever had. A stopped process does its part when it continues: until then it writes into the
// old inbox, which no endpoint reads, and D' sends it nothing. In whatever order it then finds messages and words, that
// is harmless, and it delays no other endpoint. If D' dies meanwhile, or several incarnations pass, X goes to the
// newest at once.
//
// A new incarnation X' may start while others do. It knows all incarnations that started before it and is told of all
// that start later; the endpoints that ran then were told of X'. It accepts those that it knows at its start, since its
// inbox is new.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/limits.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "transport/channel_transport.h"
#include "transport/host/fabric.h"
#include "transport/host/segment.h"

namespace ingot::inline transport_host {

struct PeerIncarnation {
  EndpointId endpoint;
  Incarnation incarnation;
  Segment inbox;  // Fabric::map_inbox
};

// One endpoint's part of the switch. Used by the thread that runs the endpoint's loop only.
class PeerIncarnations {
 public:
  // `incarnations`: by endpoint, including this one, the incarnations whose inboxes the transport was made with. Their
  // messages to this endpoint's inbox are accepted from now on.
  // REQUIRES: fabric and transport outlive this.
  PeerIncarnations(Fabric& fabric, ChannelTransport& transport, std::vector<Incarnation> incarnations);

  // A peer's next incarnation is about to start, so the former one is dead. False: it is not newer than the one known
  // here.
  bool announce(PeerIncarnation announced);

  // The incarnation at the other end of the peer's channel is dead.
  void gone(EndpointId peer);

  // The incarnation at the other end of the channel.
  Incarnation incarnation(EndpointId peer) const { return peers_[peer.value()].incarnation; }

  // True while steps are left: then poll() must be called in each round, after a probe. Reads no shared memory.
  bool waiting() const { return !(unready_ | announced_).empty(); }

  // Takes the steps that are possible. Calls `back` for each peer whose channel is now with its next incarnation.
  // Returns how much was done.
  int poll(absl::FunctionRef<void(EndpointId, Incarnation)> back);

  // True if poll() would do something. For Pollable::readable.
  bool readable();

 private:
  static_assert(kEndpointsMax <= ReplicaSet::kCapacity);
  struct Peer {
    Incarnation incarnation;
    Segment inbox;                        // as mapped here; empty: the fabric's
    std::optional<PeerIncarnation> next;  // announced
  };

  bool accepts_us(EndpointId peer) const { return fabric_.accepted(peer, self_) == incarnation(self_); }
  void go_over(EndpointId peer, absl::FunctionRef<void(EndpointId, Incarnation)> back);

  Fabric& fabric_;
  ChannelTransport& transport_;
  const EndpointId self_;
  std::vector<Peer> peers_;  // by endpoint
  ReplicaSet gone_;
  ReplicaSet unready_;    // peers that have not accepted this incarnation yet
  ReplicaSet announced_;  // peers with a next incarnation
};

}  // namespace ingot::transport_host
