// Costs derived from a machine's topology, where measuring is impossible: what two cores share tells how far a message
// goes.
//
// These are typical figures of server processors, not measurements of the machine at hand: a plan made from them fits
// where distances differ much, and ignores differences between single cores. Sources, and how sure each figure is:
// docs/trees.md.
#pragma once

#include <string>

#include "core/planning/cost_model.h"
#include "core/planning/topology.h"

namespace ingot::inline core_planning {

// Which of a topology's processors count as cores of the model.
enum class Threads : std::uint8_t {
  kOnePerCore,
  kAll,  // hyperthreads, too, each as a core of its own
};

// Packages are assumed to be wired as a cube: the path between two of them has as many links as their numbers have
// different bits (two packages: a link; four: a square; eight: a cube).
// REQUIRES: at most kMachineCoresMax cores.
CostModel derive_machine(const Topology& topology, const std::string& name, Threads threads);

// The Intel SCC: 6 x 4 tiles of two cores, no cache coherence. A message is one line written into the receiver's
// message buffer, with its flag in it: the sender's write crosses the mesh and back, the receiver reads its own buffer.
// Costs are core cycles at the papers' clocks (533 MHz cores, 800 MHz mesh). NUMA nodes are the four memory
// controllers' quadrants.
CostModel derive_scc();

}  // namespace ingot::core_planning
