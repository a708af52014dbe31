// The rules that the stable segment imposes on its writer; the real segment would abort the replica.
#pragma once

#include <string>
#include <tuple>

#include "replication/agreement/agreement.h"
#include "replication/stable/view.h"
#include "tests/simulation/checkers/checker.h"

namespace ingot::simulation {

// Not thread-safe.
class StableChecker : public Checker {
 public:
  // A replica is about to store; `before` is what its segment holds.
  void stores(int replica, const StableView& before, const StableWrite& write) {
    using Kind = StableWrite::Kind;
    const auto says = [&](const char* what) { object("stable: replica " + std::to_string(replica) + what); };
    if (write.kind == Kind::kPromise) {
      if (std::tie(write.epoch, write.ballot) < std::tie(before.epoch, before.promised)) {
        says(" breaks a promise that it has stored");
      }
    } else if (write.kind == Kind::kLeading) {
      if (write.epoch < before.leader_epoch || write.ballot < before.leader_ballot) says(" leads backwards");
    } else if (write.kind == Kind::kAccepted || write.kind == Kind::kOutcome) {
      if (write.epoch < before.epoch) says(" votes in an epoch that is over for it");
    }
  }

  // Its segment has no room for what it must store.
  void full(int replica) {
    object("stable: replica " + std::to_string(replica) + " has no room for what it must store");
  }
};

}  // namespace ingot::simulation
