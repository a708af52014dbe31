// A whole group driven by one seed while its replicas are killed, stopped, restarted, wrongly suspected, and lose
// messages; then the faults stop, and the group must recover. Unlike in simulation.h, faults hit any replica.
#pragma once

#include <cstdint>
#include <string>

#include "replication/agreement/agreement.h"

namespace ingot::testing {

struct FailoverOptions {
  std::string kind = "1paxos";
  int replicas = 3;
  int voters = 3;
  std::uint64_t seed = 1;
  int steps = 1500;
  bool trace = false;  // printed to standard error
};

struct FailoverResult {
  std::string violation;  // empty: no checker found one
  std::uint64_t decided = 0;
  std::uint64_t reads = 0;
  std::uint64_t kills = 0;
  std::uint64_t both = 0;  // times that leader and acceptor were killed together
  std::uint64_t restarts = 0;
  std::uint64_t pauses = 0;
  std::uint64_t changes = 0;  // of the configuration
  std::uint64_t salvages = 0;
  std::uint64_t snapshots = 0;
};

FailoverResult fail_over(const FailoverOptions& options);

}  // namespace ingot::testing
