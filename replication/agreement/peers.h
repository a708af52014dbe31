// What a replica knows of its peers' incarnations: which are dead, which are new, which are suspected or doubted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "replication/agreement/agreement.h"

namespace ingot::inline replication_agreement {

// Death is a fact: the kernel reported it, or a later incarnation runs. Suspicion is an opinion, and any message ends
// it. So is doubt: the kernel reported a stop, which may be over. Not thread-safe.
class Peers {
 public:
  explicit Peers(const GroupConfig& group)
      : voters_(group.voters), self_(group.self), peers_(static_cast<std::size_t>(group.replicas)) {
    at(self_).incarnation = group.incarnation;
    at(self_).caught_up = group.incarnation == Incarnation(1);
  }

  // `name` runs, or has run. True: this incarnation is new here, so its predecessors are dead.
  bool note_alive(ReplicaIncarnation name) {
    Peer& peer = at(name.id);
    peer.suspected = peer.doubted = false;
    if (name.incarnation <= peer.incarnation) return false;
    peer.reported_stopped = false;
    peer.incarnation = name.incarnation;
    peer.caught_up = false;
    return true;
  }

  // True: its death was not known yet.
  bool died(ReplicaIncarnation name) {
    if (dead(name)) return false;
    at(name.id).dead_up_to = name.incarnation;
    return true;
  }

  bool dead(ReplicaIncarnation name) const {
    const Peer& peer = at(name.id);
    return name.incarnation < peer.incarnation || name.incarnation <= peer.dead_up_to;
  }

  // The kernel says that `name` is stopped. False: that is known, or it is no news of a living incarnation that is known
  // here. A doubted replica is suspected, too.
  bool doubt(ReplicaIncarnation name) {
    Peer& peer = at(name.id);
    if (name.incarnation != peer.incarnation || dead(name)) return false;
    peer.reported_stopped = true;
    if (peer.doubted) return false;
    return peer.suspected = peer.doubted = true;
  }
  // `name` has gone on. That it answers is not said. False: it was not doubted.
  bool end_doubt(ReplicaIncarnation name) {
    Peer& peer = at(name.id);
    if (name.incarnation != peer.incarnation) return false;
    peer.reported_stopped = false;
    return std::exchange(peer.doubted, false);
  }
  bool doubted(EndpointId id) const { return at(id).doubted; }
  // The kernel's last word is that it is stopped, whether or not messages have come since. A report that is repeated
  // while its subject runs makes the doubt come and go; this stays.
  bool reported_stopped(EndpointId id) const { return at(id).reported_stopped; }

  void suspect(EndpointId id) { at(id).suspected = true; }
  bool suspected(EndpointId id) const { return at(id).suspected; }
  void set_caught_up(EndpointId id, bool caught_up) { at(id).caught_up = caught_up; }
  bool caught_up(EndpointId id) const { return at(id).caught_up; }

  // The newest incarnation known.
  ReplicaIncarnation name(EndpointId id) const { return {id, at(id).incarnation}; }
  bool up(EndpointId id) const { return !dead(name(id)); }

  // A voter that may get a role, as far as this replica knows.
  bool fit(EndpointId id) const { return id.value() < voters_ && up(id) && at(id).caught_up; }

 private:
  struct Peer {
    Incarnation incarnation{1};
    Incarnation dead_up_to{0};
    bool caught_up = true;
    bool suspected = false;
    bool doubted = false;
    bool reported_stopped = false;
  };
  Peer& at(EndpointId id) { return peers_[id.value()]; }
  const Peer& at(EndpointId id) const { return peers_[id.value()]; }

  int voters_;
  EndpointId self_;
  std::vector<Peer> peers_;
};

}  // namespace ingot::replication_agreement
