// The rules that the stable segment imposes on its writer, which the real segment would abort the replica for; and that
// a ballot names one command for a slot, which a Chosen relies on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "core/stable_hash.h"
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
    if (write.kind != Kind::kAccepted && write.kind != Kind::kProposed) return;
    const std::uint64_t hash = write.command == nullptr ? 0 : hash_bytes(*write.command);
    const auto [known, fresh] = commands_.try_emplace({write.epoch, write.ballot, write.slot}, hash);
    if (!fresh && known->second != hash) says(" stores a second command for a slot under one ballot");
  }

  // Its segment has no room for what it must store.
  void full(int replica) {
    object("stable: replica " + std::to_string(replica) + " has no room for what it must store");
  }

 private:
  std::map<std::tuple<Epoch, Ballot, Slot>, std::uint64_t> commands_;  // hashes of what any replica has stored
};

}  // namespace ingot::simulation
