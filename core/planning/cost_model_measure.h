// Costs measured on this machine: two threads, each on its own core, exchange messages of one cache line.
//
// One sample is a batch of kMeasureBatchMessages. The sender's time for the batch gives `send`. The receiver waits
// until the whole batch is there. It takes the messages one by one, each found only after the one before, which gives
// `receive`; or all at once: what each further one adds is `overlapped`. A batch there and back is the cross-check.
// Medians hide samples during which another process took a core.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/planning/cost_model.h"
#include "core/planning/topology.h"

namespace ingot::inline core_planning {

struct MeasuredMachine {
  CostModel model;
  // Interquartile range as a share of the median, over all pairs and kinds of cost: the median and the worst.
  double spread_median = 0;
  double spread_most = 0;
};

// Measures every ordered pair of cores: `samples` batches of each kind, after a fifth as many to warm up. Calls
// progress(done, all) from the calling thread after each pair. Takes about 20 ms a pair with 2000 samples, longer if
// other processes use the cores. Errors: FAILED_PRECONDITION (fewer than two cores; no time stamp counter),
// INVALID_ARGUMENT (a core cannot be used).
// REQUIRES: samples >= 10, at most kMachineCoresMax cores.
absl::StatusOr<MeasuredMachine> measure_machine(const Topology& topology, const std::string& name, int samples,
                                                absl::FunctionRef<void(int done, int all)> progress);

}  // namespace ingot::core_planning
