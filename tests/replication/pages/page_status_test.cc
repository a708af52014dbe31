#include "replication/pages/page_status.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace ingot {
namespace {

// Regression: clients and the log got no word of it.
TEST_CASE("a group of which no replica runs is blocked for that, whatever its pages still show") {
  const auto daemon = std::make_unique<DaemonPage>();
  const auto own = std::make_unique<ReplicaPage[]>(2);
  const std::vector<const ReplicaPage*> pages{&own[0], &own[1]};
  own[0][ReplicaCounter::kBlocked].set(1);
  own[0][ReplicaCounter::kBlockedWhy].set(static_cast<std::uint64_t>(Blocked::kNoMajority));
  const auto set = [&](std::size_t replica, ProcessState state) {
    daemon->replicas[replica].state.set(static_cast<std::uint64_t>(state));
  };
  const auto sentence = [&] { return who_is_blocked(pages, daemon.get(), EndpointId(0), 0); };
  set(0, ProcessState::kUp);
  set(1, ProcessState::kStopped);
  CHECK(any_replica_runs(*daemon, 2));
  CHECK_THAT(sentence(), Catch::Matchers::StartsWith("replica 0 is blocked: "));
  set(0, ProcessState::kDead);
  CHECK(!any_replica_runs(*daemon, 2));
  CHECK(sentence() == no_replica_runs());
  set(0, ProcessState::kStarting);
  CHECK(any_replica_runs(*daemon, 2));
  CHECK(sentence().empty());
  CHECK_THAT(who_is_blocked(pages, nullptr, EndpointId(0), 0), Catch::Matchers::StartsWith("replica 0 is blocked: "));
}

}  // namespace
}  // namespace ingot
