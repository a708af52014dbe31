// The stable segment's room: what is obsolete goes bit by bit, at once, or by cleaning, and as the model says.
#include <catch2/catch.hpp>
#include <string>

#include "core/prng.h"
#include "replication/stable/segment.h"
#include "replication/stable/view.h"
#include "replication/stable/write.h"
#include "tests/replication/stable/segment_fixture.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/replication/stable/stable_store_model.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Kind = StableWrite::Kind;
using Fixture = SegmentFixture;

// Regression: all records were freed in the step that began the leadership, for milliseconds in which the group waited.
TEST_CASE("a former leadership's records go with later writes, or all at once for a writer that needs room") {
  Fixture segment;
  StableSegment& writer = *segment.writer;
  const auto propose = [&](std::uint64_t ballot, std::uint64_t slot) {
    REQUIRE(writer.store({Kind::kProposed, Epoch(1), Ballot(ballot), Slot(slot), text("command")}));
  };
  const std::size_t record = stable_record_bytes(7);
  REQUIRE(writer.store({Kind::kLeading, Epoch(1), Ballot(1), Slot(0), nullptr}));
  for (std::uint64_t slot = 0; slot < 100; ++slot) propose(1, slot);
  REQUIRE(writer.store({Kind::kLeading, Epoch(1), Ballot(2), Slot(100), nullptr}));
  CHECK(writer.used_bytes() == 100 * record);
  CHECK(segment.view().proposed.empty());
  propose(2, 100);
  CHECK(writer.used_bytes() < 100 * record);
  CHECK(writer.used_bytes() > 50 * record);
  writer.make_room();
  CHECK(writer.used_bytes() == record);
  CHECK(segment.view().proposed.at(Ballot(2)).size() == 1);
}

// Regression: simulator seed 1033485 with Multi-Paxos and three replicas. A new leader votes again, slot by slot, for
// what it had voted for. The vote that it had to keep stood before the older ones that it no longer needed, and the
// ring overflowed.
TEST_CASE("a full ring gives up obsolete records behind one that counts") {
  constexpr std::size_t kBytes = 64 * 1024;
  Fixture segment(kBytes);
  StableSegment& writer = *segment.writer;
  StableModel model(EndpointId(2), Incarnation(3));
  const auto vote = [&](std::uint64_t ballot, std::uint64_t slot) {
    const StableWrite write{Kind::kAccepted, Epoch(1), Ballot(ballot), Slot(slot), text(std::string(100, 'v'))};
    REQUIRE(writer.store(write));
    model.apply(write);
  };
  vote(1, 0);
  std::uint64_t end = 1;
  for (; writer.used_bytes() < writer.capacity_bytes() * 5 / 6; ++end) vote(1, end);
  for (std::uint64_t ballot = 2; ballot < 10; ++ballot) {
    for (std::uint64_t slot = 1; slot < end; ++slot) vote(ballot, slot);
    REQUIRE(to_text(segment.view()) == to_text(model.state()));
  }
  CHECK(segment.view().accepted.at(Slot(0)).ballot == Ballot(1));
}

TEST_CASE("cleaning waits until it is worth its time") {
  Fixture segment(64 * 1024);
  StableSegment& writer = *segment.writer;
  REQUIRE(writer.store({Kind::kAccepted, Epoch(1), Ballot(1), Slot(0), text("kept")}));
  const std::size_t kept = writer.used_bytes();
  const auto propose_until = [&](std::size_t bytes) {
    for (std::uint64_t slot = 0; writer.used_bytes() < bytes; ++slot) {
      REQUIRE(writer.store({Kind::kProposed, Epoch(1), Ballot(1), Slot(slot), text("proposed")}));
    }
  };
  propose_until(writer.capacity_bytes() / 16);
  REQUIRE(writer.store({Kind::kLeading, Epoch(1), Ballot(2), Slot(0), nullptr}));
  writer.make_room();
  writer.clean();
  CHECK(writer.used_bytes() > kept);
  REQUIRE(writer.store({Kind::kLeading, Epoch(1), Ballot(3), Slot(0), nullptr}));
  propose_until(writer.capacity_bytes() / 4);
  writer.make_room();
  writer.clean();
  CHECK(writer.used_bytes() == kept);
  CHECK(*segment.view().accepted.at(Slot(0)).command == "kept");
}

// Regression: seed 2754191171 of the comparison with the model. A look at the ring that found nothing to free took it
// for ordered, also if its votes stood in another order than their slots. What trimming freed behind a vote that counts
// was then never found.
TEST_CASE("cleaning finds what trimming makes obsolete behind a record that counts") {
  Fixture segment(64 * 1024);
  StableSegment& writer = *segment.writer;
  const auto vote = [&](std::uint64_t slot) {
    return writer.store({Kind::kAccepted, Epoch(1), Ballot(1), Slot(slot), text(std::string(1000, 'v'))});
  };
  REQUIRE(vote(100));
  std::uint64_t next = 0;
  while (writer.used_bytes() < writer.capacity_bytes() / 2) REQUIRE(vote(next++));
  writer.clean();  // all of them count
  REQUIRE(writer.store({Kind::kTrimmed, Epoch(1), Ballot(1), Slot(next), nullptr}));
  for (next = 101; writer.used_bytes() < writer.capacity_bytes() * 3 / 4;) REQUIRE(vote(next++));
  const std::size_t before_bytes = writer.used_bytes();
  writer.clean();
  CHECK(writer.used_bytes() < before_bytes * 2 / 3);
  CHECK(segment.view().accepted.contains(Slot(100)));
}

// The simulator's store is the model with this ring: so it refuses when the real one would.
TEST_CASE("the model of a bounded segment is as full as the segment, and refuses what that refuses") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  Fixture segment(64 * 1024);
  StableStoreModel model(EndpointId(2), Incarnation(3), segment.writer->capacity_bytes());
  StableScript script(seed, 30'000, 400);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const StableWrite write = script.next();
    const bool stored = segment.writer->store(write);
    REQUIRE(model.store(write) == stored);
    refused += stored ? 0 : 1;
    if (prng.below(500) == 0) {
      segment.writer->make_room();
      model.make_room();
    }
    if (prng.below(50) == 0) {
      segment.writer->clean();
      model.clean();
    }
    REQUIRE(model.used_bytes() == segment.writer->used_bytes());
    const auto extent = StableView::extent_in(segment.reader.bytes());
    REQUIRE(extent.has_value());
    REQUIRE(extent->accepted_end == model.extent().accepted_end);
    REQUIRE(extent->leader_ballot == model.extent().leader_ballot);
    if (i % 50 != 0) continue;
    const Slot from(prng.below(100));
    const StableView expected = *StableView::read(segment.reader.bytes(), from);
    const StableView read = model.read(from);
    REQUIRE(to_text(read) == to_text(expected));
    REQUIRE(read.accepted_end == expected.accepted_end);
    REQUIRE(read.proposed_end == expected.proposed_end);
  }
  CHECK(refused > 0);
  CHECK(model.cleanings() > 0);
}

}  // namespace
}  // namespace ingot
