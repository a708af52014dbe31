// One failover of a running daemon, step by step: somebody is killed or stopped under load, and the pages tell when the
// next slot was committed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/child_server.h"
#include "bench/watched_instance.h"
#include "bench/write_load.h"

namespace ingot::bench {

enum class Trouble : std::uint8_t { kKill, kStop };
enum class Target : std::uint8_t { kLeader, kAcceptor, kBoth };

// In ms, from just before the first signal is sent, each as the first look at the pages that showed it says.
struct Failover {
  double marked = 0;        // the kernel has marked the last victim's segment as final (kill only)
  double reported = 0;      // the supervisor has told of the last death (kill only)
  double changed = 0;       // a survivor knows a configuration without the victims
  double committed = 0;     // a survivor has applied a slot that nobody had applied before
  double acknowledged = 0;  // a client has the answer to a write that was committed then
  // The longest time without a commit until all are up again (kill only): the next incarnations take theirs from the
  // others.
  double stalled = 0;
  double poll = 0;          // the longest time between two looks until then: how fine all this is
  double store_mib = 0;     // of keys and values, history included, when the trouble began
};

// A daemon with state and load, ready for failovers. Not thread-safe.
class FailoverDaemon {
 public:
  struct Options {
    std::string ingotd;
    std::vector<std::string> flags;
    int replicas = 3;
    int state_mib = 0;
    int clients = 2;
  };

  // Starts, fills and loads it, and waits until a snapshot holds what it was filled with.
  static absl::StatusOr<std::unique_ptr<FailoverDaemon>> start(const Options& options);

  // Waits until everybody is up and calm, then makes trouble. Whoever was stopped goes on afterwards.
  // Errors: DEADLINE_EXCEEDED, with a sentence (nothing was committed, or the group does not become whole).
  absl::StatusOr<Failover> fail(Trouble trouble, Target target);

  // Whether the dead are started again; if not, another daemon has to be started for the next kill.
  bool refills();

 private:
  FailoverDaemon(const Options& options, std::string name, ChildServer server)
      : options_(options), name_(std::move(name)), server_(std::move(server)) {}

  absl::Status attach();
  absl::Status wait_until_published();
  absl::StatusOr<Roles> wait_until_calm();

  const Options options_;
  const std::string name_;
  ChildServer server_;
  std::optional<WatchedInstance> pages_;
  std::optional<WriteLoad> load_;
};

}  // namespace ingot::bench
