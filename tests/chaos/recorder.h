// Many clients on a few keys of a daemon, until they are told to stop; and a look-up of every acknowledged write.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/chaos/recorded.h"

namespace ingot::chaos {

struct RecorderOptions {
  std::string endpoint = "127.0.0.1:2379";
  int clients = 8;
  int keys = 4;                                               // at a time
  std::chrono::nanoseconds era = std::chrono::seconds(2);     // then new keys are used, so that histories stay short
  std::chrono::nanoseconds pause = std::chrono::milliseconds(4);  // of a client between two operations, on average
  std::chrono::nanoseconds patience = std::chrono::seconds(60);   // of the look-up, while the daemon is away
  std::uint64_t seed = 1;
};

struct Recording {
  Records records;  // by number: records that may have had an effect, and reads that were answered
  std::uint64_t failed = 0;      // certainly not carried out
  std::uint64_t open_reads = 0;  // not recorded: they have no effect
  std::uint64_t looked_up = 0;
  std::vector<std::string> lost;  // acknowledged but not found
  double elapsed_s = 0;           // until `stop`
};

// Runs until `stop`.
Recording record(const RecorderOptions& options, const std::atomic<bool>& stop);

// Reads every key once more (recorded, too), and looks up every acknowledged write at its revision. Unavailable if the
// daemon does not answer for options.patience.
absl::Status look_up(const RecorderOptions& options, Recording& recording);

}  // namespace ingot::chaos
