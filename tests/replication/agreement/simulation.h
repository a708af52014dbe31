// A whole group driven by one seed: random proposals, reads, delays, reorder between links, overflowing backlogs,
// pauses, crashes of replicas that the protocol can do without, trimming and snapshots; then the faults stop.
#pragma once

#include <cstdint>
#include <string>

namespace ingot::testing {

struct SimulationOptions {
  std::string kind = "1paxos";
  int replicas = 3;
  int voters = 3;
  std::uint64_t seed = 1;
  int steps = 800;
};

struct SimulationResult {
  std::string violation;  // empty: no checker found one
  std::uint64_t decided = 0;  // slots
  std::uint64_t reads = 0;    // answered
  std::uint64_t lost = 0;     // messages
  std::uint64_t snapshots = 0;
  std::uint64_t rejected = 0;
  std::uint64_t refused = 0;  // messages; no correct replica sends one that another must refuse
};

SimulationResult simulate(const SimulationOptions& options);

}  // namespace ingot::testing
