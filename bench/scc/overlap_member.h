// One core's part of bench/scc_overlap: its engine, its schedule, and the ways to call the engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/scc/chunk_transport.h"
#include "bench/scc/overlap_run.h"
#include "transport/collectives/collectives.h"
#include "transport/collectives/progress_engine.h"
#include "transport/scc/interrupts/interrupts.h"

namespace ingot::scc {

// What all members of a run share; one host thread.
struct OverlapRun {
  int members = 0;
  int finished = 0;
  Picoseconds last_ps = 0;  // when the last of those finished

  void finish(Picoseconds now) {
    ++finished;
    last_ps = std::max(last_ps, now);
  }
};

// Used on its core's fibre. Lives over several runs of the chip.
class OverlapMember {
 public:
  OverlapMember(Core& core, const ChipFabric& fabric, const OverlapPoint& point);
  OverlapMember(const OverlapMember&) = delete;
  OverlapMember& operator=(const OverlapMember&) = delete;

  absl::Status build();
  // Sets the data of the next operation.
  void prepare(int round);
  // Whether its result is right. REQUIRES: the operation is done.
  bool right(int round) const;

  // Starts, then waits by polling. Returns how long it took.
  Picoseconds alone();
  // Starts, and computes until all members have finished. Returns how long the core did not compute.
  Picoseconds compute_until_all_finish(OverlapRun& run);
  // Starts, computes for that long, then waits. Returns how long all of it took.
  Picoseconds compute_then_wait(Picoseconds computation);

 private:
  bool finished() const { return schedule_->done() && !pending_; }
  bool uses_interrupts() const { return point_.how == Progress::kInterrupt || point_.how == Progress::kThread; }
  void start(bool computing);
  void engine_round();
  void handle();
  void wait();
  // Computes for at most `limit` as the point's way to progress has it, once. Returns what was computed.
  Picoseconds compute_a_while(Picoseconds limit);
  Picoseconds first_part_of(Picoseconds period);
  Picoseconds share_a_slice(Picoseconds limit);
  void take_timer();

  Core& core_;
  const OverlapPoint& point_;
  ChunkTransport transport_;
  ProgressEngine engine_;
  std::optional<Interrupts> interrupts_;
  std::optional<Schedule> schedule_;
  std::vector<double> data_;
  Reducer sum_;
  OverlapRun* run_ = nullptr;  // to which the end is to be told
  int rounds_ = 0;   // started
  bool first_ = true;  // no test and no slice yet in this round
  bool pending_ = false;  // something waits for room, though the schedule is done
};

}  // namespace ingot::scc
