// Watches of a run's keys, open while its requests are made.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

struct WatchTotals {
  std::uint64_t events = 0;
  std::uint64_t reopened = 0;  // streams that were lost, whose watches went on from their next revisions
  std::uint64_t wrong = 0;     // events that are missing, doubled or out of order, and watches that the server ended
  std::uint64_t behind = 0;    // watches that were not told of their key's last put; await() counts them
  std::string example;         // of what is wrong
};

// Watch i is of key i modulo the number of keys; they are spread over as many streams as the run has connections, each
// with a connection and a thread of its own. Used by one thread.
class Watchers {
 public:
  // Opens options.watchers of them, from the present on; waits until all are there. Errors: UNAVAILABLE, with a
  // sentence.
  // REQUIRES: valid options, with at least one watcher. `options` outlives it.
  static absl::StatusOr<std::unique_ptr<Watchers>> open(const LoadOptions& options);
  ~Watchers();

  // Waits until each watch was told of its key's present version, for at most `patience`. To be called when all
  // requests have ended. One of unknown outcome that is carried out later is not waited for.
  absl::Status await(std::chrono::nanoseconds patience);

  WatchTotals totals() const;

 private:
  class Stream;

  explicit Watchers(const LoadOptions& options);

  const LoadOptions& options_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::uint64_t behind_ = 0;
};

}  // namespace ingot::load
