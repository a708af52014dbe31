// The flags of `ingotd --backend=scc` beyond those of every backend, and the bounds of a simulated instance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

struct SccConfig {
  std::vector<int> cores;  // by replica; empty: spread over the mesh
  int gateway = -1;        // the core for requests and answers; -1: a free one in the middle of the replicas
  std::string clocks = "533/800/800";  // core/mesh/memory, MHz
  std::string cost_model = "logp";     // logp | wgr
  std::uint64_t seed = 1;              // orders cores at the same virtual time
  // The computation charged to a replica or the gateway for each message handled and each batch of effects, in core
  // cycles. The chip itself charges messages, polls and stable storage. An assumption, hence a flag.
  std::uint64_t cycles_per_message = 2000;
  std::string record;  // file for recording all inputs; empty: none
  std::string replay;  // file of a run to replay instead of serving; empty: serve
};

inline constexpr std::uint64_t kCyclesPerMessageMax = 1'000'000'000;
inline constexpr int kSccReplicasMax = 47;  // 48 cores less the gateway's

// A round is what the chip runs between two checks for input. Its virtual length starts at the minimum and doubles up
// to the maximum while there is no input and no reply.
inline constexpr std::uint64_t kRoundMinPs = 50'000'000;         // 50 us
inline constexpr std::uint64_t kRoundMaxPs = 20'000'000'000;     // 20 ms
inline constexpr std::size_t kReplicaStackBytes = 1024 * 1024;   // of each fibre; pages are allocated when touched
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 32;  // recording ends there, with a message
inline constexpr std::size_t kRecordLineBytesMax = 4 * 1024 * 1024;       // of a recording; a longer line is damaged

}  // namespace ingot
