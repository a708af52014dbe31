// What `ingotd --backend=scc` is told beside what every backend is told, and the bounds of a simulated instance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

struct SccConfig {
  std::vector<int> cores;  // by replica; empty: spread over the mesh
  int gateway = -1;        // the core where requests enter and leave; -1: a free one in the middle of the replicas
  std::string clocks = "533/800/800";  // core/mesh/memory, MHz
  std::string cost_model = "logp";     // logp | wgr
  std::uint64_t seed = 1;              // of ties between cores at the same virtual time
  // Computation of a replica or of the gateway for each message that it handles and each batch of effects, in core
  // cycles. Messages, polls and stable storage are charged by the chip itself. Assumed, hence a flag.
  std::uint64_t cycles_per_message = 2000;
  std::string record;  // file that all inputs are written to; empty: none
  std::string replay;  // file that a run is repeated from instead of serving; empty: serve
};

inline constexpr std::uint64_t kCyclesPerMessageMax = 1'000'000'000;
inline constexpr int kSccReplicasMax = 47;  // 48 cores, and one is the gateway's

// A round is what the chip runs between two looks at the outside world: so long in virtual time, then twice that and so
// on up to the maximum while nothing comes in or goes out.
inline constexpr std::uint64_t kRoundMinPs = 50'000'000;         // 50 us
inline constexpr std::uint64_t kRoundMaxPs = 20'000'000'000;     // 20 ms
inline constexpr std::size_t kReplicaStackBytes = 1024 * 1024;   // of each fibre; memory where it is used
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 32;  // then recording ends, and says so
inline constexpr std::size_t kRecordLineBytesMax = 4 * 1024 * 1024;       // of a recording; a longer line is no record

}  // namespace ingot
