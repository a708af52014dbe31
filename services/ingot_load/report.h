// What a load prints: a line of progress, a table for people, an object for scripts.
#pragma once

#include <optional>
#include <string>

#include "services/ingot_load/final_check.h"
#include "services/ingot_load/load_engine.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

// Progress on standard error: a line that is written over if that is a terminal, one line each time otherwise.
// The rate and the 99th percentile are those since the last call. Not thread-safe.
class ProgressLine {
 public:
  // `expected_s`: the run's length, 0 if not known.
  ProgressLine(double expected_s, bool terminal) : expected_s_(expected_s), terminal_(terminal) {}

  // How often show() is worth calling.
  std::chrono::milliseconds period() const { return std::chrono::milliseconds(terminal_ ? 250 : 2000); }

  void show(const LoadProgress& progress);
  // Clears the line of a terminal.
  void end();

 private:
  const double expected_s_;
  const bool terminal_;
  double last_s_ = 0;
  LatencyHistogram last_;
};

// The form that scripts rely on, on one line; what stands behind "max_us" is for people and may grow.
std::string json_report(const LoadOptions& options, const LoadResult& result, const std::optional<CheckReport>& check);

// Several lines.
std::string table_report(const LoadOptions& options, const LoadResult& result,
                         const std::optional<CheckReport>& check);

}  // namespace ingot::load
