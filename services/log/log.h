// The log of a process: lines on standard error (services/log/log_line.h). Writing one never waits for its reader: a
// line that has no room is lost and counted, and the next one that has room follows a line that says how many were
// lost. The kernel's pipe or socket is the only queue.
//
// Thread-safe, and without locks, so that it works in a child after fork, too.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/counters.h"
#include "services/log/log_format.h"
#include "services/log/log_threshold.h"

namespace ingot::inline services_log {

// What the C library's `stderr` is given from now on waits for room for at most kLastLineWaitMs, then it is lost; it is
// written as it is. For the start of a program, before its log begins: a fault of the command line that is not read
// must not keep the program from ending.
void bound_stderr();

// Begins the log of this process, whose name is in each line, as in the label of metrics about processes ("supervisor",
// "replica-2"). From then on what the C library's `stderr` is given by libraries and by failed checks becomes lines of
// level error, and descriptor 2 never waits. Before it lines are text of process "ingotd". Lines below
// `threshold` are not written.
void start_log(const std::string& process, LogFormat format, LogThreshold threshold = LogThreshold::kInfo);

void log_info(const std::string& text);
void log_warning(const std::string& text);
void log_error(const std::string& text);
// Why the process ends now: of level error. It waits for room for at most kLastLineWaitMs.
void log_last(const std::string& text);
// The same with an outcome's message. Returns the outcome without it: run_cli (services/cli/cli.h) says nothing more.
absl::Status logged(const absl::Status& outcome);

// Lines that this process has lost.
std::uint64_t log_lines_lost();

// Adds this process's lost lines to a counter, which holds those of former processes, for as long as it lives; one at a
// time. No other thread may log while it is destroyed.
class LostLinesShown {
 public:
  explicit LostLinesShown(Counter& counter);
  ~LostLinesShown();
  LostLinesShown(const LostLinesShown&) = delete;
  LostLinesShown& operator=(const LostLinesShown&) = delete;
};

}  // namespace ingot::services_log
