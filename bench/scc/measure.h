// Measures a broadcast on the simulated chip, and checks every byte that arrives. For benches, tests and plots.
//
// A point is measured on a fresh chip. Before its first repetition the caches are filled as after many broadcasts: the
// source's with lines that it has read, all others' with lines that they have written and must write back. Every
// repetition uses other addresses, which no cache holds. A repetition is one run of the chip, in which all cores begin
// at the same time; its latency lasts until the last core has the message in private memory.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/chip.h"

namespace ingot::scc {

inline constexpr std::size_t kMeasurePrivateBytes = 4 * kLutEntryBytes;
inline constexpr std::size_t kMeasureMessageBytesMax = std::size_t{16} << 20;
inline constexpr int kMeasureMessagesMax = 10'000;
inline constexpr int kMeasureRepetitionsMax = 10'000;

struct BroadcastPoint {
  std::string algorithm;
  std::size_t bytes = 32;
  int cores = kCores;        // 0 to cores - 1 take part
  int source = 0;
  int k = BroadcastSetup::kDefaultK;
  int sources = 1;           // concurrent broadcasters, for the throughput: source, and others spread over the group
  double background_us = 0;  // each core of the chip writes 1 MiB to DRAM in each such period; 0: none
  int repetitions = 0;       // 0: by size
  bool warm_caches = true;   // as above
  int messages = 0;          // pipelined by each source; 0: by size
};

struct BroadcastResult {
  double latency_us = 0;             // mean over repetitions
  double throughput_mb_per_s = 0;    // 10^6 bytes a second received by each core, of all sources
  double energy_uj = 0;              // of one repetition
  std::uint64_t accesses = 0;        // simulated, in total
  std::uint64_t trace_hash = 0;
};

// Errors: INVALID_ARGUMENT with one sentence (no such algorithm, numbers out of range); those of Chip::run; INTERNAL if
// a byte arrives wrong.
absl::StatusOr<BroadcastResult> measure_broadcast(const ChipOptions& options, const BroadcastPoint& point);
absl::Status validate(const BroadcastPoint& point);

}  // namespace ingot::scc
