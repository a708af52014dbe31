// One failover of a running daemon: processes are killed or stopped under load, and the pages show when the next slot
// is committed.
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

// Times in ms, from just before the first signal to the first poll of the pages that shows the event.
struct Failover {
  double marked = 0;        // the kernel has marked the last victim's segment as final (kill only)
  double reported = 0;      // the supervisor has reported the last death or stop
  double changed = 0;       // a survivor knows a configuration without the victims
  double committed = 0;     // a survivor has applied a slot that no replica had applied before
  double acknowledged = 0;  // a client has the answer to a write committed after the fault
  // The longest time without a commit until all are up again (kill only): the restarted incarnations use the survivors'
  // cores.
  double stalled = 0;
  double poll = 0;          // the longest time between two polls until then: the resolution of all times
  double store_mib = 0;     // of keys and values, history included, at the time of the fault
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

  // Starts, fills and loads a daemon, and waits until a snapshot holds the initial keys.
  static absl::StatusOr<std::unique_ptr<FailoverDaemon>> start(const Options& options);

  // Waits until all replicas are up and calm, then injects the fault; stopped processes are continued afterwards.
  // Errors: DEADLINE_EXCEEDED, with a sentence (no commit, or a replica does not come up).
  absl::StatusOr<Failover> fail(Trouble trouble, Target target);

  // Whether dead replicas are restarted; if not, the next kill needs a new daemon.
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
