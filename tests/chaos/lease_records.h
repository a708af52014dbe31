// What lease holders and watchers of a daemon under chaos saw, and what of it cannot be true. All times are of one
// monotonic clock, in ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::chaos {

struct Span {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
};

// One lease, with one key of its own.
struct LeaseRecord {
  std::int64_t id = 0;
  std::string key;
  std::uint64_t ttl_ns = 0;
  std::uint64_t asked_ns = 0;     // before the last grant or keep-alive that was answered was asked for
  std::uint64_t touched_ns = 0;   // the last time at which one may have been carried out
  std::uint64_t given_up_ns = 0;  // before its holder asked for its end, or its key's; 0: never
  std::uint64_t refused_ns = 0;   // after a server's answer that the lease has ended; 0: never
  bool attached = false;          // the put of its key was acknowledged
};

// Somebody knew that the lock was theirs: from the answer that said so to the end, or to when the lease might end.
struct Tenure {
  int lock = 0;
  std::int64_t lease = 0;
  std::int64_t revision = 0;  // at which its key was made
  Span span;
};

struct SeenEvent {
  std::int64_t revision = 0;
  std::string key;
  bool deleted = false;
  std::uint64_t seen_ns = 0;

  bool same(const SeenEvent& other) const {
    return revision == other.revision && key == other.key && deleted == other.deleted;
  }
};
using SeenEvents = std::vector<SeenEvent>;  // of one watcher, in the order in which it saw them

// What was done to the daemon.
struct Disturbances {
  std::vector<Span> stops;           // of the whole group: from after the last SIGSTOP to before the first SIGCONT
  std::vector<std::uint64_t> times;  // at which a process was killed, stopped or continued, and was up again
};

// Each of these is a sentence about the first thing that cannot be true, or is empty.

// Watchers that began at one revision saw what `reference`, a watch after it all, says of the past: each event once, in
// this order. `whole`: all of it; otherwise the beginning of it.
std::string find_event_violation(const std::vector<SeenEvents>& watchers, const SeenEvents& reference, bool whole);

// Two held one lock at once, or one after another under a key that is not newer.
std::string find_shared_lock(std::vector<Tenure> tenures);

// A lease that its holder had not given up was seen to end although the group had not run for the lease's time since
// the last keep-alive.
std::string find_early_end(const std::vector<LeaseRecord>& leases, const std::vector<SeenEvents>& watchers,
                           const Disturbances& disturbances);

struct Lateness {
  std::size_t ended = 0;     // leases that ended by themselves
  std::uint64_t most_ns = 0;  // that one ended after its time; the time begins anew with each disturbance
  std::string whose;          // the key of that one
  std::size_t left = 0;       // leases that nobody saw end, though they had a key
};
Lateness lateness(const std::vector<LeaseRecord>& leases, const std::vector<SeenEvents>& watchers,
                  const Disturbances& disturbances);

}  // namespace ingot::chaos
