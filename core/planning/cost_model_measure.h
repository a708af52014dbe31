// Costs as this machine has them: two threads, each on a core of its own, exchange messages of one cache line.
//
// One sample is a batch of kMeasureBatchMessages. The sender's time for the batch gives `send`; the receiver waits
// until all of it is there and takes the messages one by one, each found only after the one before, which gives
// `receive`, or all at once: what each of them adds to the first is `overlapped`. A batch there and back is the
// cross-check. Medians count, so that a core that somebody else takes now and then does not.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/planning/cost_model.h"
#include "core/planning/topology.h"

namespace ingot {

struct MeasuredMachine {
  CostModel model;
  // Between the quartiles, as a share of the median, of every pair and kind of cost: the middle one and the worst.
  double spread_median = 0;
  double spread_most = 0;
};

// Measures every ordered pair of cores, `samples` batches of each kind after a fifth as many to warm up. Calls
// progress(done, all) from the calling thread after each pair. It takes about 20 ms a pair with 2000 samples, longer
// where others use the cores. REQUIRES: samples >= 10, at most kMachineCoresMax cores.
// Errors: FAILED_PRECONDITION (fewer than two cores; no time stamp counter), INVALID_ARGUMENT (a core cannot be used).
absl::StatusOr<MeasuredMachine> measure_machine(const Topology& topology, const std::string& name, int samples,
                                                absl::FunctionRef<void(int done, int all)> progress);

}  // namespace ingot
