// NVP and SRBP on the simulated chip, from the same templates as on the host: with every order in place they hold on
// every seed; where the chip is weak enough, a missing order is detected.
#include <catch2/catch.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "tests/seeds.h"
#include "tests/transport/scc/protocol_run.h"

using namespace ingot;
using namespace ingot::test;

namespace {

// The first seed that detects the weakened site, or 0.
std::uint64_t seed_that_catches(std::string_view kind, Site weakened) {
  constexpr std::uint64_t kSeedsMax = 200;
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    if (!run_protocol(kind, seed, weakened).failure.empty()) return seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("both protocols hold on the chip, whichever core is stopped or killed at any time") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  int faults = 0;
  std::uint64_t delivered = 0;
  const auto seeds = testing::seeds(300);  // INGOT_SIMULATIONS=100000 for a long search
  for (const std::uint64_t seed : seeds) {
    const ProtocolResult result = run_protocol(kind, seed);
    INFO(kind << " seed " << seed);
    REQUIRE(result.failure == "");
    faults += result.faults;
    delivered += result.delivered;
  }
  if (testing::one_seed_only()) return;
  CHECK(faults > static_cast<int>(seeds.size() / 2));
  CHECK(delivered > 10 * seeds.size());
}

TEST_CASE("a run of a protocol repeats bit for bit") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const ProtocolResult first = run_protocol(kind, seed), again = run_protocol(kind, seed);
    CHECK(first.hash == again.hash);
    CHECK(first.delivered == again.delivered);
    hashes.insert(first.hash);
  }
  CHECK(hashes.size() == 10);
}

TEST_CASE("NVP needs every order on the chip") {
  for (const Site site : {Site::kNvpNotify, Site::kNvpPoll, Site::kNvpReturnCredit, Site::kNvpTakeCredit}) {
    INFO("site " << static_cast<int>(site) << " of transport/sites.h made relaxed");
    CHECK(seed_that_catches("nvp", site) != 0);
  }
}

// The chip is stronger than transport/memory.h requires: its cores are in order, and every acquire drops all lines. So
// SRBP's draw and its checks of parked tickets, given-up ones and blocked places never see old lines here: another
// acquire shortly before has dropped them. tests/transport/incoherent_test shows that memory.h needs those orders, too.
TEST_CASE("SRBP needs every order on the chip that no other order implies") {
  for (const Site site :
       {Site::kSrbpPublish, Site::kSrbpPoll, Site::kSrbpReturnHead, Site::kSrbpTakeHead, Site::kSrbpGiveUp}) {
    INFO("site " << static_cast<int>(site) << " of transport/sites.h made relaxed");
    CHECK(seed_that_catches("srbp", site) != 0);
  }
}
