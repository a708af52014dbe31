// A group under load with one learner that is stopped or slow in turns.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/child_server.h"
#include "bench/watched_instance.h"
#include "bench/write_load.h"

namespace ingot::bench {

constexpr auto kBin = std::chrono::milliseconds(50);  // of the time line

struct Phase {
  double per_s = 0;
  double snapshots_per_s = 0;  // made by the others and the learner
};

struct Turn {
  Phase before, troubled, after;
  std::vector<double> bins_per_s;  // of `before` and `troubled`, one after the other
  std::size_t troubled_from = 0;   // among them

  double whole_per_s() const { return (before.per_s + after.per_s) / 2; }
};

// A daemon of its own and the load on it. Not thread-safe.
class LearnerGroup {
 public:
  struct Options {
    std::string ingotd;
    std::vector<std::string> flags;
    int replicas = 3;
    int clients = 8;
  };

  static absl::StatusOr<std::unique_ptr<LearnerGroup>> start(const Options& options, const std::string& agreement);

  // `kind`: "stop" or "slow". Errors: DEADLINE_EXCEEDED (a replica does not come up or catch up).
  absl::StatusOr<Turn> turn(const std::string& kind, std::chrono::nanoseconds phase);

 private:
  explicit LearnerGroup(ChildServer server) : server_(std::move(server)) {}

  absl::StatusOr<int> wait_for_learner() const;
  bool whole() const;
  std::uint64_t applied_by_others(int learner) const;
  std::uint64_t snapshots_made() const;
  Phase count(std::chrono::nanoseconds phase, int learner, std::vector<double>& bins_per_s) const;

  ChildServer server_;
  std::optional<WatchedInstance> pages_;
  std::optional<WriteLoad> load_;
};

}  // namespace ingot::bench
