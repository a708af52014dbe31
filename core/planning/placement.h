// Placement of replicas on cores: a pure function of the machine and the group.
//
// The costs that count, measured on a two-core virtual machine (docs/design/waiting.md): a message takes 0.1 us between
// two awake cores, 1 us between two processes that yield to each other on one core, and tens of us if it must wake an
// idle core. So:
//
//  * One core is left free of replicas for the front end and the load, if there are at least two.
//  * Enough cores: one replica each, all near one another. Replicas 0 and 1 (the first leader and the first acceptor)
//    are nearest, since every commit passes between them; the rest follow outwards.
//  * Too few cores: replicas 0 and 1 have a core of their own and the others share the rest; if only two cores are left
//    the others share the acceptor's, since the leader is the busiest.
//  * One core left (machines of one or two cores): all replicas share it. On the other core a replica would sleep and
//    be woken between commits, and compete with the front end.
#pragma once

#include <cstdint>
#include <vector>

#include "core/planning/topology.h"
#include "core/types.h"

namespace ingot::inline core_planning {

enum class PlacementPolicy : std::uint8_t {
  kAuto,    // as above
  kPack,    // all replicas on one core
  kSpread,  // all cores in turn, none left free
};

struct Placement {
  std::vector<CoreId> replicas;   // index: replica id
  std::vector<CoreId> front_end;  // cores without a replica, nearest to replica 0 first; all cores if there is none

  // True if no other replica and no front end is placed on this replica's core: its loop may spin there.
  // REQUIRES: replica < replicas.size().
  bool owns_core(std::size_t replica) const;
};

// REQUIRES: replicas >= 1, and a topology with cores.
Placement place(const Topology& topology, int replicas, PlacementPolicy policy = PlacementPolicy::kAuto);

}  // namespace ingot::core_planning
