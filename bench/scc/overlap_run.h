// Measures collectives that progress while all cores of the simulated chip compute, in virtual time: KACC's
// comparison.
//
// One progress engine a core, the same for all ways to progress: only who calls it differs, and what that costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "transport/scc/options.h"

namespace ingot::scc {

enum class Progress : std::uint8_t {
  kExplicit,       // the program calls test every `test_every_cycles` of its computation
  kThread,         // a helper thread of the same core sleeps; the sender's interrupt wakes it
  kPollingThread,  // a helper thread polls, and shares the core with the program in slices
  kInterrupt,      // the sender's interrupt runs the engine in a handler, on the program's stack
};
constexpr std::array<const char*, 4> enum_names(Progress) {
  return {"explicit", "thread", "polling-thread", "interrupt"};
}

enum class OverlapOperation : std::uint8_t { kBroadcast, kReduction, kAllreduce, kBarrier };
constexpr std::array<const char*, 4> enum_names(OverlapOperation) {
  return {"broadcast", "reduction", "allreduce", "barrier"};
}

// What is charged beside the chip's own constants (memory, mesh, and the interrupt: transport/scc/constants.cc), in
// core cycles.

// A switch between two threads of a process. Measured: 2.8 us on a Pentium at 100 MHz, which is this core (R. Gooch,
// "Linux scheduler benchmark results", 1998; warm caches, few threads). A switch between processes took 8.8 us.
inline constexpr std::uint64_t kThreadSwitchCycles = 280;
// A time slice of a kernel with 1000 ticks a second, at 533 MHz. Assumed.
inline constexpr std::uint64_t kTimeSliceCycles = 533'000;
// A call of the engine that finds nothing: the call, twelve words of NVP's vector compared, empty queues. Counted.
inline constexpr std::uint64_t kEngineCallCycles = 120;
// A message or a node of a schedule: its header, a binary search, its successors, a call of the transport. Counted.
inline constexpr std::uint64_t kEngineStepCycles = 200;
// A double loaded, added to another and stored. Counted from the P54C's timings.
inline constexpr std::uint64_t kCombineCyclesPerDouble = 8;

inline constexpr std::size_t kOverlapBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kOverlapChunkBytes = 2048;  // payload of a chunk, so that two fit into an MPB

struct OverlapPoint {
  OverlapOperation operation = OverlapOperation::kBroadcast;
  std::size_t bytes = 8;  // a multiple of 8; ignored by barriers
  int cores = 48;         // 0 to cores - 1; core 0 is the root
  int children = 2;       // of an inner core of the tree
  Progress how = Progress::kInterrupt;
  std::uint64_t test_every_cycles = 0;  // kExplicit
  std::uint64_t switch_cycles = kThreadSwitchCycles;
  int repetitions = 0;  // 0: by size
};

struct OverlapResult {
  // From the start at all cores to the completion at the last, while all compute.
  double completion_us = 0;
  // Of that time, the part in which a core did not compute; mean over the cores. 0 is what a core loses that only
  // computes, so it is (1 - flops while communicating / flops while idle) x 100.
  double cpu_lost_percent = 0;
  // Without computation: start, then wait by polling.
  double alone_us = 0;
  // By the OSU benchmarks' rule: every core starts, computes for alone_us and waits. 100 x (1 - (total - alone) /
  // alone), mean over the cores, at least 0.
  double overlap_percent = 0;
};

// Errors: INVALID_ARGUMENT with one sentence; those of Chip::run; INTERNAL if a result is wrong.
absl::StatusOr<OverlapResult> measure_overlap(const ChipOptions& options, const OverlapPoint& point);

}  // namespace ingot::scc
