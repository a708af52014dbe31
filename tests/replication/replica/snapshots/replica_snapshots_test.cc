#include "replication/replica/snapshots/replica_snapshots.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replication/replica/snapshots/limits.h"
#include "replication/replica/snapshots/messages.h"

namespace ingot {
namespace {

constexpr std::size_t kSegmentBytes = 64 * 1024 * 1024;
constexpr std::size_t kSlotBytes = 512 * 1024;

// A state machine with a chosen size.
class Sized final : public StateMachine {
 public:
  std::string apply(Slot, std::string_view) override { return ""; }
  std::string query(std::string_view) const override { return ""; }
  void save(Sink sink) const override { sink("all of it"); }
  std::size_t save_bytes() const override { return bytes; }
  absl::StatusOr<Load> decode(std::string_view) override { return [] {}; }
  std::uint64_t digest() const override { return 0; }

  std::size_t bytes = 0;
};

// One replica of three that neither leads nor accepts, so that it makes the snapshots; the test decides when a snapshot
// is published.
struct Maker {
  Maker() {
    status.leader = EndpointId(0);
    status.acceptor = EndpointId(1);
  }

  static ReplicaSnapshots::Options options() {
    ReplicaSnapshots::Options all;
    all.group.self = EndpointId(2);
    all.group.incarnation = Incarnation(2);
    all.group.replicas = all.group.voters = 3;
    all.segment_bytes = kSegmentBytes;
    all.kept = true;
    all.ready = [](EndpointId) { return true; };
    return all;
  }

  // Applies a slot of kSlotBytes, and runs a round.
  void apply_slot() {
    const Slot slot = applier.applied();
    applier.apply(slot, "", [](const Applier::Applied&) {});
    snapshots.applied(slot, kSlotBytes);
    round();
  }

  void apply_bytes(std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += kSlotBytes) apply_slot();
  }

  // A snapshot that is ordered is written before the next round.
  void round() {
    if (const auto file = std::exchange(written, nullptr)) snapshots.written(file);
    carry_out_orders();
    snapshots.note_published(Slot(published_slot.get()));
    snapshots.poll(status, true);
    carry_out_orders();
  }

  void carry_out_orders() {
    for (Action action; queue.front(action); queue.pop(action.kind)) {
      if (action.kind == Action::Kind::kPublishSnapshot) handed_over.push_back(action.slot.value());
      if (action.kind != Action::Kind::kWriteSnapshot) continue;
      written = std::make_shared<const SnapshotServer::File>(
          SnapshotServer::File{{action.slot, 1'000, 1}, "all of it", nullptr});
    }
  }

  void ticks(int count) {
    for (int i = 0; i < count; ++i) {
      snapshots.tick();
      round();
    }
  }

  // Applies enough for the next snapshot to be due, which is then handed over.
  void hand_over_one() {
    apply_bytes(kSnapshotLogBytesMin);
    round();
    REQUIRE(handed_over.size() == 1);
    apply_bytes(8 * kSnapshotLogBytesMin);
  }

  void publish_newest() {
    published_slot.set_release(handed_over.back());
    round();
  }

  Sized state;
  Applier applier{state};
  Counter published_slot;
  std::vector<std::uint64_t> handed_over;  // slots
  AgreementStatus status;
  PeerStates peers{EndpointId(2), 3, {}};
  ActionQueue queue;
  std::shared_ptr<const SnapshotServer::File> written;  // its outcome is not reported yet
  ReplicaSnapshots snapshots{options(), applier, peers, queue};
};

TEST_CASE("while a snapshot waits to be published no other is made, however much is applied") {
  Maker maker;
  maker.hand_over_one();
  CHECK(maker.handed_over.size() == 1);
  maker.publish_newest();
  maker.round();
  CHECK(maker.handed_over.size() == 2);
}

TEST_CASE("a postponed snapshot is considered again when the other is published, even in an idle group") {
  Maker maker;
  maker.hand_over_one();
  maker.ticks(kSnapshotQuietTicks + 1);
  maker.published_slot.set_release(maker.handed_over.back());
  REQUIRE(maker.snapshots.wants_tick());
  maker.ticks(2);
  CHECK(maker.handed_over.size() == 2);
}

TEST_CASE("a replica that has never made a snapshot knows the size of the state, too") {
  Maker maker;
  maker.state.bytes = 1024 * 1024 * 1024;
  maker.apply_bytes(kSegmentBytes / kSnapshotSegmentParts - kSlotBytes);
  CHECK(maker.handed_over.empty());
  maker.apply_bytes(2 * kSlotBytes);
  maker.round();
  CHECK(maker.handed_over.size() == 1);
}

TEST_CASE("after a change of the acceptor one snapshot is made, later for a larger state, after all is applied") {
  Maker maker;
  maker.state.bytes = 10 * kSnapshotBytesPerTick;
  maker.apply_slot();
  maker.status.epoch = Epoch(1);
  maker.status.proposed = Slot(3);
  maker.round();
  maker.ticks(kSnapshotAfterChangeTicks + 9);
  CHECK(maker.handed_over.empty());
  maker.ticks(2);
  CHECK(maker.handed_over.empty());  // slots 1 and 2 may be in fewer segments than others
  maker.apply_slot();
  CHECK(maker.handed_over.empty());
  maker.apply_slot();
  maker.round();
  REQUIRE(maker.handed_over == std::vector<std::uint64_t>{3});
  maker.apply_slot();
  maker.ticks(3);
  CHECK(maker.handed_over.size() == 1);  // regression: until it was published, another one was due at once
  maker.publish_newest();
  maker.ticks(3);
  CHECK(maker.handed_over.size() == 1);
}

TEST_CASE("a joining replica that has received a state waits as others do") {
  Maker maker;
  maker.apply_slot();
  maker.status.epoch = Epoch(1);
  maker.status.proposed = Slot(1);
  maker.round();
  maker.ticks(kSnapshotAfterChangeTicks - 1);
  maker.state.bytes = 100 * kSnapshotBytesPerTick;
  maker.snapshots.installed();
  maker.apply_slot();
  maker.ticks(kSnapshotAfterChangeTicks + 99);
  CHECK(maker.handed_over.empty());
  maker.ticks(2);
  CHECK(maker.handed_over.size() == 1);
}

TEST_CASE("a snapshot that peers' logs have overtaken is read no further") {
  Maker maker;
  maker.state.bytes = 1024 * 1024 * 1024;  // so that it makes none itself
  maker.snapshots.needed(maker.status);
  const std::string part = encode({.type = SnapshotMessageType::kPart,
                                   .incarnation = Incarnation(2),
                                   .round = 1,
                                   .above = Slot(0),
                                   .name = {Slot(2), 1'000, 7},
                                   .offset = 0,
                                   .data = "its beginning"});
  maker.snapshots.receive(EndpointId(1), part);
  maker.apply_slot();
  maker.ticks(kSnapshotQuietTicks + 1);
  CHECK(maker.snapshots.wants_tick());
  maker.apply_slot();
  maker.ticks(kSnapshotQuietTicks + 1);
  CHECK_FALSE(maker.snapshots.wants_tick());
  maker.snapshots.receive(EndpointId(1), part);  // was in flight
  CHECK(maker.snapshots.refused() == 0);
}

TEST_CASE("a client's wish makes a snapshot due, however little log there is, unless one that holds it is published") {
  Maker maker;
  maker.status.epoch = Epoch(0);  // no change of the epoch, which makes a snapshot urgent, too
  maker.apply_slot();
  maker.ticks(10);
  REQUIRE(maker.handed_over.empty());
  maker.snapshots.wish(maker.applier.applied());
  maker.round();
  maker.round();
  REQUIRE(maker.handed_over == std::vector<std::uint64_t>{1});
  maker.apply_slot();
  maker.snapshots.wish(maker.applier.applied());  // while the first is not published
  maker.round();
  CHECK(maker.handed_over.size() == 1);
  maker.publish_newest();
  maker.round();
  REQUIRE(maker.handed_over == std::vector<std::uint64_t>{1, 2});
  maker.publish_newest();
  maker.apply_slot();
  maker.snapshots.wish(Slot(2));  // a repetition of what is fulfilled
  maker.round();
  maker.ticks(10);
  CHECK(maker.handed_over.size() == 2);
}

}  // namespace
}  // namespace ingot
