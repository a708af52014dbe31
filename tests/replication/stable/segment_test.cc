// The stable segment: stored writes read back as in a simple model, and trimming bounds it without loss.
#include "replication/requests/limits.h"
#include "replication/stable/limits.h"
#include "replication/stable/segment.h"

#include <time.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "core/check.h"
#include "core/prng.h"
#include "replication/stable/view.h"
#include "replication/stable/write.h"
#include "tests/replication/stable/segment_fixture.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Kind = StableWrite::Kind;
using Fixture = SegmentFixture;

TEST_CASE("a new segment holds its writer's name, and nothing more") {
  Fixture segment;
  const StableView view = segment.view();
  CHECK(view.replica == EndpointId(2));
  CHECK(view.incarnation == Incarnation(3));
  CHECK(to_text(view) == to_text(StableModel(EndpointId(2), Incarnation(3)).state()));
  CHECK(segment.writer->used_bytes() == 0);
  CHECK(segment.writer->capacity_bytes() + 2 * kStableConfigurationCellBytes + kStableRingOffset ==
        kStableSegmentBytes);
}

TEST_CASE("every kind of write is read back") {
  Fixture segment;
  StableSegment& writer = *segment.writer;
  REQUIRE(writer.store({Kind::kPromise, Epoch(4), Ballot(6), Slot(0), nullptr}));
  REQUIRE(writer.store({Kind::kAccepted, Epoch(4), Ballot(6), Slot(10), text("ten")}));
  REQUIRE(writer.store({Kind::kAccepted, Epoch(4), Ballot(6), Slot(11), text("")}));
  REQUIRE(writer.store({Kind::kAccepted, Epoch(4), Ballot(7), Slot(10), text("ten again")}));
  REQUIRE(writer.store({Kind::kLeading, Epoch(4), Ballot(9), Slot(12), nullptr}));
  REQUIRE(writer.store({Kind::kProposed, Epoch(4), Ballot(9), Slot(12), text("twelve")}));
  REQUIRE(writer.store({Kind::kProposed, Epoch(4), Ballot(12), Slot(13), text("of a leadership to come")}));
  REQUIRE(writer.store({Kind::kOutcome, Epoch(4), Ballot(1), Slot(10), nullptr}));
  REQUIRE(writer.store({Kind::kOutcome, Epoch(4), Ballot(0), Slot(11), nullptr}));

  StableView view = segment.view();
  CHECK(view.epoch == Epoch(4));
  CHECK(view.promised == Ballot(6));
  REQUIRE(view.accepted.size() == 2);
  CHECK(*view.accepted.at(Slot(10)).command == "ten again");
  CHECK(view.accepted.at(Slot(10)).ballot == Ballot(7));
  CHECK(view.accepted.at(Slot(11)).command->empty());
  CHECK(view.leader_epoch == Epoch(4));
  CHECK(view.leader_ballot == Ballot(9));
  CHECK(*view.proposed.at(Ballot(9)).at(Slot(12)) == "twelve");
  CHECK(*view.proposed.at(Ballot(12)).at(Slot(13)) == "of a leadership to come");
  CHECK(view.committed == std::map<Slot, bool>{{Slot(10), true}, {Slot(11), false}});

  REQUIRE(writer.store({Kind::kTrimmed, Epoch(4), Ballot(6), Slot(11), nullptr}));
  view = segment.view();
  CHECK(view.trimmed == Slot(11));
  CHECK(view.accepted.size() == 1);
  CHECK(view.committed.size() == 1);

  // A newer epoch resets the acceptor in one step; accepted slots become history, proposals stay.
  REQUIRE(writer.store({Kind::kPromise, Epoch(12), Ballot(12), Slot(0), nullptr}));
  view = segment.view();
  CHECK(view.trimmed == Slot(11));
  CHECK(view.accepted.empty());
  REQUIRE(view.history.size() == 1);
  CHECK(view.history.at(Slot(11))->empty());
  CHECK(view.committed.empty());
  CHECK(view.proposed.size() == 2);

  REQUIRE(writer.store({Kind::kTrimmed, Epoch(12), Ballot(12), Slot(12), nullptr}));
  CHECK(segment.view().history.empty());
}

TEST_CASE("a reader may leave out slots that it knows") {
  Fixture segment;
  StableSegment& writer = *segment.writer;
  REQUIRE(writer.store({Kind::kPromise, Epoch(1), Ballot(1), Slot(0), nullptr}));
  for (std::uint64_t slot = 0; slot < 4; ++slot) {
    REQUIRE(writer.store({Kind::kAccepted, Epoch(1), Ballot(1), Slot(slot), text("old")}));
  }
  REQUIRE(writer.store({Kind::kPromise, Epoch(3), Ballot(3), Slot(0), nullptr}));
  REQUIRE(writer.store({Kind::kAccepted, Epoch(3), Ballot(3), Slot(4), text("four")}));
  REQUIRE(writer.store({Kind::kLeading, Epoch(3), Ballot(5), Slot(2), nullptr}));
  REQUIRE(writer.store({Kind::kProposed, Epoch(3), Ballot(5), Slot(2), text("two")}));
  REQUIRE(writer.store({Kind::kProposed, Epoch(3), Ballot(9), Slot(7), text("of a leadership to come")}));

  const StableView all = segment.view();
  CHECK(all.history.size() == 4);
  CHECK(all.accepted_end == Slot(5));
  CHECK(all.proposed_end == Slot(3));

  const StableView some = *StableView::read(segment.reader.bytes(), Slot(3));
  CHECK(some.history.size() == 1);
  CHECK(some.accepted.size() == 1);
  CHECK(some.proposed.size() == 1);
  const StableView none = *StableView::read(segment.reader.bytes(), Slot(100));
  CHECK(none.history.empty());
  CHECK(none.accepted.empty());
  CHECK(none.proposed.empty());
  for (const StableView* view : {&some, &none}) {
    CHECK(view->accepted_end == all.accepted_end);
    CHECK(view->proposed_end == all.proposed_end);
  }
}

TEST_CASE("a configuration replaces the one before, up to its bound") {
  Fixture segment;
  const auto configure = [&](std::string content) {
    return segment.writer->store({Kind::kConfiguration, {}, {}, {}, text(std::move(content))});
  };
  CHECK(segment.view().configuration.empty());
  REQUIRE(configure("first"));
  CHECK(segment.view().configuration == "first");
  const std::string largest(kStableConfigurationBytesMax, 'c');
  REQUIRE(configure(largest));
  CHECK(segment.view().configuration == largest);
  CHECK_FALSE(configure(std::string(kStableConfigurationCellBytes, 'c')));
  REQUIRE(configure(""));
  CHECK(segment.view().configuration.empty());
  CHECK(segment.writer->used_bytes() == 0);
}

TEST_CASE("a new leadership drops its own proposals below the slot at which it begins") {
  Fixture segment;
  StableSegment& writer = *segment.writer;
  for (std::uint64_t slot = 3; slot < 6; ++slot) {
    REQUIRE(writer.store({Kind::kProposed, Epoch(1), Ballot(2), Slot(slot), text("again")}));
  }
  REQUIRE(writer.store({Kind::kLeading, Epoch(1), Ballot(2), Slot(4), nullptr}));
  CHECK(segment.view().leader_trimmed == Slot(4));
  CHECK(segment.view().proposed.at(Ballot(2)).size() == 2);
}

// Regression: a leader that had asked the acceptor again kept proposals for slots that another leader had decided.
TEST_CASE("a leadership that goes on drops its proposals below the slot at which it goes on") {
  Fixture segment;
  StableSegment& writer = *segment.writer;
  const auto lead_from = [&](std::uint64_t slot) {
    REQUIRE(writer.store({Kind::kLeading, Epoch(1), Ballot(2), Slot(slot), nullptr}));
  };
  lead_from(3);
  for (std::uint64_t slot = 3; slot < 6; ++slot) {
    REQUIRE(writer.store({Kind::kProposed, Epoch(1), Ballot(2), Slot(slot), text("own")}));
  }
  lead_from(5);
  CHECK(segment.view().leader_trimmed == Slot(5));
  CHECK(segment.view().proposed.at(Ballot(2)).size() == 1);
  lead_from(4);  // never back
  CHECK(segment.view().leader_trimmed == Slot(5));
}

TEST_CASE("random writes read back as in a simple model, also after the ring has wrapped several times") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Fixture segment(64 * 1024);
  StableModel model(EndpointId(2), Incarnation(3));
  StableScript script(seed, 1000, 100);
  std::size_t stored_bytes = 0;
  while (stored_bytes < 20 * segment.writer->capacity_bytes()) {
    const StableWrite write = script.next();
    REQUIRE(segment.writer->store(write));
    model.apply(write);
    segment.writer->clean();
    stored_bytes += write.command != nullptr ? write.command->size() : 0;
    REQUIRE(to_text(segment.view()) == to_text(model.state()));
    REQUIRE(segment.writer->used_bytes() <= segment.writer->capacity_bytes());
  }
}

TEST_CASE("a full segment refuses and keeps what it has; trimming makes room") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  Fixture segment;
  StableModel model(EndpointId(2), Incarnation(3));
  const auto store = [&](const StableWrite& write) {
    const bool stored = segment.writer->store(write);
    if (stored) model.apply(write);
    return stored;
  };
  Slot next;
  for (int round = 0; round < 3; ++round) {
    INFO("round " << round);
    const auto any_command = [&] { return text(std::string(prng.below(kBatchBytesMax + 1), 'x')); };
    while (store({Kind::kAccepted, Epoch(1), Ballot(1), next, any_command()})) next = next.next();
    // A store is refused only if it lacks room for the one record and the skip before it.
    CHECK(segment.writer->used_bytes() + 2 * stable_record_bytes(kBatchBytesMax) > segment.writer->capacity_bytes());
    REQUIRE(to_text(segment.view()) == to_text(model.state()));
    // Fixed-size state needs no room. An outcome of a new epoch does, and without it the epoch does not begin.
    REQUIRE(store({Kind::kLeading, Epoch(1), Ballot(static_cast<std::uint64_t>(round)), Slot(0), nullptr}));
    while (store({Kind::kOutcome, Epoch(1), Ballot(1), next, nullptr})) {}
    CHECK_FALSE(store({Kind::kOutcome, Epoch(2), Ballot(1), next, nullptr}));
    REQUIRE(to_text(segment.view()) == to_text(model.state()));

    const std::size_t used_before = segment.writer->used_bytes();
    REQUIRE(store({Kind::kTrimmed, Epoch(1), Ballot(1), Slot(next.value() - prng.below(10)), nullptr}));
    CHECK(segment.writer->used_bytes() < used_before);
    REQUIRE(to_text(segment.view()) == to_text(model.state()));
  }
}

TEST_CASE("a segment has one writer in its whole life") {
  Fixture segment;
  CHECK(StableSegment::open(segment.fd.get(), EndpointId(2), Incarnation(4)).status().code() ==
        absl::StatusCode::kFailedPrecondition);
  segment.writer.reset();
  CHECK(StableSegment::open(segment.fd.get(), EndpointId(2), Incarnation(4)).status().code() ==
        absl::StatusCode::kFailedPrecondition);
  CHECK(segment.view().incarnation == Incarnation(3));  // what it wrote stays readable

  auto small = create_segment("ingot-test-small", kStableSegmentBytes / 2);
  CHECK(StableSegment::open(small->get(), EndpointId(0), Incarnation(1)).status().code() ==
        absl::StatusCode::kInvalidArgument);
  auto untouched = create_segment("ingot-test-untouched", kStableSegmentBytes);
  auto mapped = Segment::map(untouched->get(), Segment::Access::kReadOnly);
  CHECK(StableView::read(mapped->bytes()).status().code() == absl::StatusCode::kNotFound);
  CHECK(StableView::writer_state(mapped->bytes()) == WriterState::kNone);
}

// Processor time of this thread, since the machine may be busy.
double thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

TEST_CASE("figure: processor time to store one command", "[.figure]") {
  for (const std::size_t bytes : {0u, 100u, 1000u, 10'000u, 100'000u}) {
    Fixture segment;
    StableWrite write{Kind::kAccepted, Epoch(1), Ballot(1), Slot(0), text(std::string(bytes, 'x'))};
    const std::size_t turn = kStableSegmentBytes / stable_record_bytes(bytes);
    for (const char* which : {"first turn of the ring", "second turn"}) {
      const double begin_ns = thread_ns();
      for (std::size_t i = 0; i < turn; ++i) {
        write.slot = write.slot.next();
        INGOT_CHECK(segment.writer->store(write));
        const StableWrite trim{Kind::kTrimmed, Epoch(1), Ballot(1), write.slot, nullptr};
        if (i % 256 == 0) INGOT_CHECK(segment.writer->store(trim));
      }
      std::cout << bytes << " bytes, " << which << ": " << (thread_ns() - begin_ns) / static_cast<double>(turn)
                << " ns\n";
    }
  }
}

}  // namespace
}  // namespace ingot
