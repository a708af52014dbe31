// The parts of a leader: the window, the repetition timer, and the probes that serve reads.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "replication/agreement/leader.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/messages.h"
#include "replication/agreement/reads.h"
#include "replication/agreement/registry.h"
#include "replication/agreement/status.h"
#include "replication/agreement/window.h"
#include "replication/replica/limits.h"
#include "replication/requests/limits.h"
#include "replication/stable/layout.h"
#include "tests/replication/agreement/group.h"
#include "tests/seeds.h"

namespace ingot::testing {
namespace {

std::shared_ptr<const std::string> command(std::size_t bytes = 1) {
  return std::make_shared<const std::string>(bytes, 'x');
}

TEST_CASE("the window is a map of open slots") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  INFO("seed " << seed);
  for (int incarnation = 0; incarnation < 100; ++incarnation) {
    const int slots = 1 + static_cast<int>(prng.below(20));
    ProposalWindow window(slots);
    std::map<std::uint64_t, std::uint64_t> open;  // slot -> id
    std::uint64_t base = 0;
    std::uint64_t next = 0;
    for (std::uint64_t step = 1; step < 300; ++step) {
      REQUIRE(window.has_room() == (next - base < static_cast<std::uint64_t>(slots)));
      if (window.has_room() && prng.chance(0.5)) {
        REQUIRE(window.add(step, command()) == Slot(next));
        open[next++] = step;
      } else if (!open.empty() && prng.chance(0.5)) {
        const auto closing = std::next(open.begin(), static_cast<long>(prng.below(open.size())));
        window.close(Slot(closing->first));
        open.erase(closing);
      } else {
        base = std::max(base, prng.below(next + 2));
        next = std::max(next, base);
        open.erase(open.begin(), open.lower_bound(base));
        window.advance(Slot(base));
      }
      REQUIRE(window.base() == Slot(base));
      REQUIRE(window.next() == Slot(next));
      REQUIRE(window.open() == static_cast<int>(open.size()));
      auto expected = open.begin();
      window.for_each_open([&](Slot slot, const Proposal& proposal) {
        REQUIRE(slot.value() == expected->first);
        REQUIRE(proposal.id == expected->second);
        ++expected;
      });
      REQUIRE(expected == open.end());
    }
  }
}

// What a leader does with its slots, without an agreement around it.
class BareLeader final : public Leader {
 public:
  using Leader::Leader;
  std::vector<Slot> offered;

 private:
  void offer(Slot slot, const Proposal&, Effects&) override { offered.push_back(slot); }
  void offer_again(Slot, const Proposal&, Effects&) override {}
  void send_probe(Effects&) override {}
};

// Regression: messages_test, seed 2830043575. A leader that had not heard of its successor learned from another replica
// what that one had decided instead of a no-op, and aborted when it proposed the no-op for a new slot.
TEST_CASE("what a leader has recovered gets no other slot if its own is decided otherwise") {
  const GroupConfig group{.self = EndpointId(1)};
  Mailbox mailbox(group);
  BareLeader leader(group, EndpointId(0), Epoch(1), Ballot(1), mailbox);
  Effects effects;
  const auto noop = std::make_shared<const std::string>();
  REQUIRE(leader.lead(Epoch(1), Ballot(2), Slot(0), {{noop}, {command()}}, effects));
  leader.propose(7, command(2), effects);
  REQUIRE(leader.offered == std::vector{Slot(2)});
  for (std::uint64_t slot = 0; slot < 3; ++slot) leader.learned(Slot(slot), "decided by the successor");
  leader.advance(Slot(3), effects);
  CHECK(leader.offered == std::vector{Slot(2), Slot(3)});  // the client's command only
  CHECK(*leader.proposal(Slot(3))->command == "xx");
  CHECK(effects.rejected.empty());
}

TEST_CASE("repetitions come at doubling distances up to a bound") {
  RetransmitTimer timer;
  int distance = kRetransmitTicks;
  for (int repetition = 0; repetition < 10; ++repetition) {
    for (int tick = 1; tick < distance; ++tick) REQUIRE_FALSE(timer.due());
    REQUIRE(timer.due());
    distance = std::min(2 * distance, kRetransmitTicksMax);
  }
  timer.progress();
  for (int tick = 1; tick < kRetransmitTicks; ++tick) REQUIRE_FALSE(timer.due());
  REQUIRE(timer.due());
}

TEST_CASE("a repetition is bounded in bytes, and the oldest slots go first") {
  GroupConfig group;
  group.bounds.window_bytes = kWindowSlots * kRetransmitBytesMax;
  group.bounds.suspect_ticks = 1000;
  const auto leader = make_agreement("1paxos", group);
  Effects effects;
  for (int slot = 0; slot < kWindowSlots; ++slot) leader->propose(1, command(kRetransmitBytesMax / 4), effects);
  CHECK(effects.messages.size() == kWindowSlots);
  effects.clear();
  for (int tick = 0; tick < kRetransmitTicks; ++tick) leader->tick(effects);
  CHECK(std::count_if(effects.messages.begin(), effects.messages.end(), [](const Outgoing& outgoing) {
          return outgoing.message.size() > 1000;
        }) == 4);
}

TEST_CASE("a leader whose in-flight entries would be too large accepts no more proposals") {
  const auto leader = make_agreement("1paxos", {});
  Effects effects;
  std::size_t bytes = 0;
  while (leader->can_propose()) {
    const std::size_t next = bytes < kProposalWindowBytesMax - 1 ? kProposalWindowBytesMax - 1 : kBatchBytesMax;
    leader->propose(1, command(next), effects);
    bytes += next;
  }
  CHECK(bytes + kWindowSlots * kInFlightSlotBytes <= kInFlightBytesMax);
  CHECK(bytes > kBatchBytesMax);
}

TEST_CASE("a probe serves the reads that waited when it left, and no other") {
  ReadProbes reads;
  Effects effects;
  reads.add(1, EndpointId(0), effects);
  REQUIRE(reads.wants_probe());
  CHECK(reads.start(Slot(5)) == 1);
  reads.add(2, EndpointId(0), effects);
  CHECK_FALSE(reads.wants_probe());
  reads.confirm(effects);
  REQUIRE(effects.reads_ready.size() == 1);
  CHECK(effects.reads_ready[0].read_id == 1);
  CHECK(effects.reads_ready[0].applied_needed == Slot(5));
  REQUIRE(reads.wants_probe());
  CHECK(reads.start(Slot(7)) == 2);
  reads.add(3, EndpointId(0), effects);
  reads.reject_all(EndpointId(4), effects);
  REQUIRE(effects.rejected.size() == 2);
  CHECK(effects.rejected[0].id == 2);
  CHECK(effects.rejected[1].id == 3);
  CHECK(effects.rejected[1].leader == EndpointId(4));
  CHECK_FALSE(reads.under_way());
  CHECK_FALSE(reads.wants_probe());
}

int count(const Effects& effects, MessageType type) {
  int found = 0;
  for (const Outgoing& outgoing : effects.messages) found += decode_message(outgoing.message.joined())->type == type;
  return found;
}

std::string from_acceptor(Message message) {
  message.epoch = Epoch(1);
  message.ballot = Ballot(1);
  message.incarnation = Incarnation(1);
  return encode(message);
}

// The Accept was lost. Clients keep reading.
TEST_CASE("a proposal is repeated while reads are confirmed") {
  const auto leader = make_agreement("1paxos", {});
  Effects effects;
  leader->propose(1, command(), effects);
  REQUIRE(count(effects, MessageType::kAccept) == 1);
  for (std::uint64_t tick = 1; tick <= kRetransmitTicks; ++tick) {
    CHECK(count(effects, MessageType::kAccept) == 1);
    leader->read(tick, effects);
    leader->receive(EndpointId(1), from_acceptor({.type = MessageType::kReadConfirm, .number = tick}), effects);
    leader->tick(effects);
  }
  CHECK(effects.reads_ready.size() == kRetransmitTicks);
  CHECK(count(effects, MessageType::kAccept) == 2);
}

// The probe was lost. Writes go on.
TEST_CASE("a probe is repeated while slots are decided") {
  const auto leader = make_agreement("1paxos", {});
  Effects effects;
  leader->read(1, effects);
  REQUIRE(count(effects, MessageType::kReadProbe) == 1);
  for (std::uint64_t tick = 0; tick < kRetransmitTicks; ++tick) {
    CHECK(count(effects, MessageType::kReadProbe) == 1);
    leader->propose(1, command(), effects);
    const Message learn{.type = MessageType::kLearn, .slot = Slot(tick), .command = command()};
    leader->receive(EndpointId(1), from_acceptor(learn), effects);
    leader->tick(effects);
  }
  CHECK(effects.decided.size() == kRetransmitTicks);
  CHECK(count(effects, MessageType::kReadProbe) == 2);
}

// Regression: simulator seed 2575588 with Multi-Paxos and three replicas, all of which had been restarted. A new leader
// stored what it recovered without asking whether there was room, and died.
TEST_CASE("a takeover waits for room in the store") {
  const std::string kind = GENERATE("1paxos", "multipaxos");
  CAPTURE(kind);
  Group group({.kind = kind});
  group.propose(0, "a");
  group.propose(0, "b");
  while (!group.link(0, 1).empty()) group.deliver(0, 1);
  group.link(1, 2).clear();
  group.crash(0);
  for (const int survivor : {1, 2}) {
    group.at(survivor).room(0);
    group.report_death(survivor, 0);
  }
  group.run(100);
  CHECK_FALSE((group.at(1).can_propose() || group.at(2).can_propose()));
  const auto lacks_room = [&](int replica) { return group.at(replica).status().why == Blocked::kNoRoom; };
  CHECK((lacks_room(1) || lacks_room(2)));
  for (const int survivor : {1, 2}) group.at(survivor).room(1024 * 1024);
  group.run(200);
  CHECK((group.at(1).can_propose() || group.at(2).can_propose()));
  CHECK(group.applied(1) == Slot(2));
  CHECK(group.applied(2) == Slot(2));
}

// Regression: a Multi-Paxos leader that lacked room for its own earlier proposals rejected them, and decided them once
// there was room.
TEST_CASE("a leader that stands again keeps its own proposals that wait for room") {
  Group group({.kind = "multipaxos"});
  int rejected = 0;
  group.observe = [&](int, const Effects& effects) { rejected += static_cast<int>(effects.rejected.size()); };
  const std::vector<std::string> own = {"a", "b", "c"};
  for (const std::string& command : own) group.propose(0, command);
  group.link(0, 1).clear();
  group.link(0, 2).clear();
  group.stop(0, true);
  REQUIRE(group.move(1, Role::kLeader, 1).ok());
  group.deliver_all();
  REQUIRE(group.at(1).role() == Role::kLeader);
  group.stop(0, false);
  group.deliver_all();
  REQUIRE(group.at(0).status().deposed);

  group.at(0).room(2 * stable_record_bytes(1));  // for the first of them only
  REQUIRE(group.move(0, Role::kLeader, 0).ok());
  group.deliver_all();
  REQUIRE(group.at(0).status().why == Blocked::kNoRoom);
  CHECK(rejected == 0);
  group.at(0).room(1024 * 1024);
  group.run(10);
  CHECK(rejected == 0);
  for (int replica = 0; replica < group.replicas(); ++replica) CHECK(group.applied(replica) == Slot(own.size()));
}

// Regression: the 1,025th LeaderChange of an epoch was refused for ever, and the group stopped with that leader's
// death.
TEST_CASE("the leader moves more often in one epoch than LeaderChanges are kept") {
  Group group({});
  int leader = 0;
  for (int move = 0; move < kLeaderChangesKept + 2; ++move) {
    leader = 2 - leader;
    INFO("move " << move + 1);
    REQUIRE(group.move(leader, Role::kLeader, leader).ok());
    group.deliver_all();
    REQUIRE(group.at(leader).role() == Role::kLeader);
  }
  CHECK(group.at(leader).status().epoch == Epoch(1));
  group.crash(leader);
  group.report_death(1, leader);
  group.report_death(2 - leader, leader);
  group.run(3);
  group.propose(2 - leader, "after the death");
  group.run(3);
  CHECK(group.applied(1) == Slot(1));
}

TEST_CASE("more reads than may wait are busy") {
  const auto leader = make_agreement("1paxos", {});
  Effects effects;
  for (int read = 0; read < kPendingReadsMax; ++read) leader->read(1, effects);
  CHECK(effects.rejected.empty());
  leader->read(77, effects);
  REQUIRE(effects.rejected.size() == 1);
  CHECK(effects.rejected[0].id == 77);
  CHECK(effects.rejected[0].why == Rejection::Why::kBusy);
}

}  // namespace
}  // namespace ingot::testing
