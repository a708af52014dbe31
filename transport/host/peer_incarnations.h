// How the endpoints of a fabric go over to each other's next incarnations: pairwise, without a barrier, while all others talk on.
//
// D dies; the supervisor makes an inbox for its next incarnation D'(i), tells every process that runs, and starts D'
// with everybody's newest inbox. Between D' and one of the others, X:
//
//   X    gone      nothing more is sent to D
//        settled   all that D had sent completely is handed out; what it had half sent never will be
//        back      X maps the new inbox in place of the old; the channel is empty in both directions
//        accepted[X][D] = i, with release; wakes D'
//   D'   ready     it sees its own incarnation there, and begins to send to X
//
// So no message of the dead can be taken for one of their successor: X reads what D wrote before it lets D' write there,
// and D' reads an inbox that nobody ever held who talked to D. A process that is stopped does its part when it wakes up:
// until then it writes into the old inbox, which nobody reads, and D' sends it nothing; that is harmless in whatever order
// it finds messages and words then, and holds up nobody else. If D' dies meanwhile, or several incarnations pass, X goes over to
// the newest at once.
//
// A new incarnation X' may be started while others begin, too. It knows all that began before it and is told of all
// that begin after; whoever lived then was told of X'. It accepts those that it knows at its start: its inbox is fresh.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/limits.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "transport/host/channel_transport.h"
#include "transport/host/fabric.h"
#include "transport/host/segment.h"

namespace ingot {

struct PeerIncarnation {
  EndpointId endpoint;
  Incarnation incarnation;
  Segment inbox;  // Fabric::map_inbox
};

// One endpoint's part in it. Used by the thread that runs the endpoint's loop only.
class PeerIncarnations {
 public:
  // `incarnations`: by endpoint, its own included, the incarnations whose inboxes the transport was made with. What
  // they sent to this one's inbox is accepted from now on. REQUIRES: fabric and transport outlive this.
  PeerIncarnations(Fabric& fabric, ChannelTransport& transport, std::vector<Incarnation> incarnations);

  // A peer's next incarnation is about to begin, hence the one before is dead. False: it is not newer than what is
  // known here.
  bool announce(PeerIncarnation announced);

  // The incarnation of that peer that the channel is with is dead.
  void gone(EndpointId peer);

  // The incarnation that the channel is with.
  Incarnation incarnation(EndpointId peer) const { return peers_[peer.value()].incarnation; }

  // True while something is to be done here: then poll() is to be called in each round, after a probe. Costs no look at
  // shared memory.
  bool waiting() const { return !(unready_ | announced_).empty(); }

  // Goes on as far as that is possible. Calls `back` for each peer whose next incarnation the channel is with from now
  // on. Returns how much was done.
  int poll(absl::FunctionRef<void(EndpointId, Incarnation)> back);

  // True if a look would do something. For Pollable::readable.
  bool readable();

 private:
  static_assert(kEndpointsMax <= ReplicaSet::kCapacity);
  struct Peer {
    Incarnation incarnation;
    Segment inbox;                  // as mapped here; empty: the fabric's
    std::optional<PeerIncarnation> next;   // announced
  };

  bool accepts_us(EndpointId peer) const { return fabric_.accepted(peer, self_) == incarnation(self_); }
  void go_over(EndpointId peer, absl::FunctionRef<void(EndpointId, Incarnation)> back);

  Fabric& fabric_;
  ChannelTransport& transport_;
  const EndpointId self_;
  std::vector<Peer> peers_;  // by endpoint
  ReplicaSet gone_;
  ReplicaSet unready_;    // not seen to accept this incarnation
  ReplicaSet announced_;  // have a next incarnation
};

}  // namespace ingot
