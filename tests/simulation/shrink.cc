#include "tests/simulation/shrink.h"

#include <algorithm>
#include <utility>

namespace ingot::simulation {

namespace {

bool fails(const Options& options) { return !run(options).violation.empty(); }

// The smallest value of the field that fails, if failing is monotonic; otherwise some small one that fails.
void cut(Options& options, int Options::*field, int high) {
  int low = 0;  // not known to fail; `high` fails
  options.*field = low;
  if (fails(options)) return;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    options.*field = middle;
    (fails(options) ? high : low) = middle;
  }
  options.*field = high;
}

}  // namespace

Shrunk shrink(Options options) {
  options.trace = false;
  const Plan plan(options);
  cut(options, &Options::faults_max, static_cast<int>(plan.faults.size()));
  cut(options, &Options::writes_max, plan.writes);
  cut(options, &Options::faults_max, std::min(options.faults_max, static_cast<int>(plan.faults.size())));
  options.trace = true;
  Outcome outcome = run(options);
  return {options, std::move(outcome)};
}

}  // namespace ingot::simulation
