// Prints a load: a line of progress, a table, or a JSON object.
#pragma once

#include <optional>
#include <string>

#include "services/ingot_load/final_check.h"
#include "services/ingot_load/load_engine.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

// Progress on standard error: on a terminal one line that is overwritten, otherwise a line each time. The rate and the
// 99th percentile are those since the last call. Not thread-safe.
class ProgressLine {
 public:
  // `expected_s`: the run's length; 0: unknown.
  ProgressLine(double expected_s, bool terminal) : expected_s_(expected_s), terminal_(terminal) {}

  // The useful interval between calls of show().
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

// One line of JSON, which scripts rely on up to "max_us"; fields after that are informal and may grow.
std::string json_report(const LoadOptions& options, const LoadResult& result, const std::optional<CheckReport>& check);

// A table of several lines.
std::string table_report(const LoadOptions& options, const LoadResult& result,
                         const std::optional<CheckReport>& check);

}  // namespace ingot::load
