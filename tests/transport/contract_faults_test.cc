// A process is killed or stopped at any moment, by real signals: the others go on, and lose none of the messages that
// it had sent; a stopped process loses none either.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/transport/contract_party.h"
#include "tests/transport/host/child.h"

using namespace ingot;
using namespace ingot::test;

namespace {

constexpr int kEndpoints = 4;
constexpr int kVictim = 1;
constexpr int kNobody = 7;  // the victim takes it for absent, so it does not leave before its fault
constexpr int kRounds = 20;

PartyPlan plan_for(std::string_view kind, int round) {
  PartyPlan plan{.kind = kind, .endpoints = kEndpoints};
  plan.seed = testing::drawn_seed() + static_cast<std::uint64_t>(round);
  plan.messages = 1000;
  plan.bytes_max = round % 3 == 0 ? 3000 : 60;
  plan.sleeps = round % 2 == 0;
  return plan;
}

void wait_a_moment(Prng& prng) { std::this_thread::sleep_for(std::chrono::microseconds(prng.below(4000))); }

void wait_until(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// All that one round needs; `body` runs in each child and returns its exit code.
struct Round {
  Round(const PartyPlan& round_plan, const std::function<void(Party&, Board&, EndpointId)>& body)
      : plan(round_plan), fabric(make_fabric(plan)), board(make_board()) {
    board->fault_happened.store(false);
    for (std::uint16_t i = 0; i < kEndpoints; ++i) {
      children.push_back(std::make_unique<Child>([&, i] {
        auto own = Fabric::attach(fabric.descriptors());
        if (!own.ok()) return 1;
        Party party(plan, *own, EndpointId(i), *board);
        body(party, *board, EndpointId(i));
        return board->failed.load() ? 2 : 0;
      }));
    }
  }

  // No message between these two was lost or invented.
  void check_link(int from, int to, bool complete) {
    INFO("seed " << plan.seed << ", from " << from << " to " << to);
    if (complete) CHECK(board->received[from][to].load() == plan.messages);
    CHECK(board->received[from][to].load() >= board->complete[from][to].load());
    CHECK(board->received[from][to].load() <= board->accepted[from][to].load());
  }

  const PartyPlan plan;
  Fabric fabric;
  std::unique_ptr<Board, BoardUnmapper> board;
  std::vector<std::unique_ptr<Child>> children;
};

}  // namespace

TEST_CASE("a killed process affects no other") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  Prng prng(testing::drawn_seed());
  for (int number = 0; number < kRounds; ++number) {
    Round round(plan_for(kind, number), [](Party& party, Board&, EndpointId self) {
      party.run({self.value() == kVictim ? kNobody : kVictim});
    });
    wait_a_moment(prng);
    round.children[kVictim]->kill(SIGKILL);
    CHECK(round.children[kVictim]->wait() == -SIGKILL);
    round.board->fault_happened.store(true);
    for (const int i : {0, 2, 3}) CHECK(round.children[static_cast<std::size_t>(i)]->wait() == 0);
    REQUIRE(round.board->failure() == "");
    for (const int to : {0, 2, 3}) {
      for (int from = 0; from < kEndpoints; ++from) {
        if (from != to) round.check_link(from, to, from != kVictim);
      }
    }
  }
}

TEST_CASE("a stopped process affects no other, and when it goes on all messages arrive") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  Prng prng(testing::drawn_seed());
  for (int number = 0; number < kRounds; ++number) {
    Round round(plan_for(kind, number), [](Party& party, Board& board, EndpointId self) {
      party.run({self.value() == kVictim ? kNobody : kVictim});
      ++board.finished;
      party.run();
    });
    wait_a_moment(prng);
    round.children[kVictim]->kill(SIGSTOP);
    int status = 0;
    REQUIRE(::waitpid(round.children[kVictim]->pid(), &status, WUNTRACED) == round.children[kVictim]->pid());
    REQUIRE(WIFSTOPPED(status));
    round.board->fault_happened.store(true);
    // The three others finish among themselves while it is stopped.
    wait_until([&] { return round.board->finished.load() >= 3 || round.board->failed.load(); });
    round.children[kVictim]->kill(SIGCONT);
    for (auto& child : round.children) CHECK(child->wait() == 0);
    REQUIRE(round.board->failure() == "");
    for (int from = 0; from < kEndpoints; ++from) {
      for (int to = 0; to < kEndpoints; ++to) {
        if (from != to) round.check_link(from, to, true);
      }
    }
  }
}
