// Which segments of earlier incarnations are kept, and what peers know of replicas that die and restart.
#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "replication/replica/peer_segments.h"
#include "replication/replica/peer_states.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/segment.h"

namespace ingot {
namespace {

constexpr std::size_t kBytes = 1 << 20;  // enough for a test
constexpr EndpointId kSelf(0), kPeer(1);

// One incarnation of a replica: its segment, and its writer, if any.
struct TestIncarnation {
  explicit TestIncarnation(std::uint32_t incarnation_in, EndpointId id = kPeer)
      : incarnation(incarnation_in), replica(id) {
    auto made = create_segment("test-life", kBytes);
    INGOT_CHECK(made.ok());
    fd = *std::move(made);
    auto mapped = Segment::map(fd.get(), Segment::Access::kReadOnly);
    INGOT_CHECK(mapped.ok());
    segment = std::make_shared<const Segment>(*std::move(mapped));
  }
  void open() {
    auto opened = StableSegment::open(fd.get(), replica, Incarnation(incarnation), kBytes);
    INGOT_CHECK(opened.ok());
    writer = *std::move(opened);
  }
  void inherit() {
    StableWrite write{StableWrite::Kind::kConfiguration, Epoch(), Ballot(), Slot(),
                      std::make_shared<const std::string>("votes")};
    INGOT_CHECK(writer->store(write));
  }
  void die() { writer.reset(); }
  IncarnationSegment seen() const { return {Incarnation(incarnation), segment}; }
  ReplicaIncarnation name() const { return {replica, Incarnation(incarnation)}; }

  std::uint32_t incarnation;
  EndpointId replica;
  Descriptor fd;
  std::shared_ptr<const Segment> segment;
  std::unique_ptr<StableSegment> writer;
};

std::vector<int> kept_after(int incarnations, int counts_every, int needed_every = 1000) {
  std::deque<int> kept;
  for (int incarnation = 1; incarnation <= incarnations; ++incarnation) {
    add_incarnation(
        kept, incarnation, [&](int ended) { return ended == 1 || ended % counts_every == 0; },
        [&](int ended) { return ended % needed_every == 0; });
  }
  return {kept.begin(), kept.end()};
}

struct Pair {
  explicit Pair(const TestIncarnation& peer) : self(1, kSelf), pages{&page_of_self, &page_of_peer} {
    segments.emplace(kSelf, std::vector<IncarnationSegments>{{self.seen()}, {peer.seen()}});
    peers.emplace(kSelf, 2, pages);
  }
  std::vector<ReplicaIncarnation> poll() {
    std::vector<ReplicaIncarnation> died;
    segments->poll([&](ReplicaIncarnation name) { note_death(name, died); });
    return died;
  }
  std::vector<ReplicaIncarnation> begin(const TestIncarnation& next) {
    std::vector<ReplicaIncarnation> died;
    segments->begin(next.name(), next.segment, Slot(0), [&](ReplicaIncarnation name) { note_death(name, died); });
    return died;
  }
  void connect(const TestIncarnation& next, Slot applied_here) {
    segments->connected(next.name());
    peers->connected(next.name(), applied_here);
  }
  void note_death(ReplicaIncarnation name, std::vector<ReplicaIncarnation>& died) {
    peers->died(name.id);
    died.push_back(name);
  }

  TestIncarnation self;
  ReplicaPage page_of_self{}, page_of_peer{};
  std::vector<const ReplicaPage*> pages;
  std::optional<PeerSegments> segments;
  std::optional<PeerStates> peers;
};

}  // namespace

TEST_CASE("the newest incarnations that count are kept; those that ended at their start are not") {
  CHECK(kept_after(1, 1) == std::vector<int>{1});
  CHECK(kept_after(3, 1) == std::vector<int>{1, 2, 3});
  CHECK(kept_after(10, 1) == std::vector<int>{6, 7, 8, 9, 10});
  CHECK(kept_after(9, 1000) == std::vector<int>{1, 9});  // a process that crashes at each start
  CHECK(kept_after(12, 3) == std::vector<int>{1, 3, 6, 9, 12});
  CHECK(kept_after(11, 1, 2) == std::vector<int>{2, 4, 6, 7, 8, 9, 10, 11});  // segments with history are kept, too
  const std::vector<int> all_needed = kept_after(40, 1, 1);
  CHECK(all_needed.size() == kNeededIncarnationsMax + 1);
  CHECK(all_needed.front() == 24);
}

TEST_CASE("an incarnation counts as ended before it inherited unless its segment says otherwise") {
  TestIncarnation never_opened(2), opened(2), inherited(2);
  CHECK(StableView::ended_before_inheriting(never_opened.segment->bytes()));
  opened.open();
  CHECK(StableView::ended_before_inheriting(opened.segment->bytes()));
  inherited.open();
  inherited.inherit();
  CHECK_FALSE(StableView::ended_before_inheriting(inherited.segment->bytes()));
  // Unreadable: its votes are unknown, so it counts, and older votes do not replace them.
  alignas(64) static std::byte garbage[8192];
  garbage[0] = std::byte{1};
  CHECK_FALSE(StableView::ended_before_inheriting(garbage));
}

TEST_CASE("a replica that died is lagging until its next incarnation has caught up") {
  TestIncarnation first(1), second(2);
  first.open();
  Pair pair(first);
  CHECK(pair.poll().empty());
  CHECK_FALSE(pair.peers->any_lagging());
  pair.page_of_peer.incarnation.set_release(1);
  pair.page_of_peer[ReplicaCounter::kAppliedSlots].set_release(90);
  first.die();
  CHECK(pair.poll() == std::vector<ReplicaIncarnation>{first.name()});
  CHECK(pair.poll().empty());
  CHECK(pair.peers->dead(kPeer));
  CHECK(pair.begin(second).empty());  // the death of the first is known already
  CHECK(pair.peers->dead(kPeer));

  pair.connect(second, Slot(50));
  CHECK_FALSE(pair.peers->dead(kPeer));
  pair.peers->note_returns();
  CHECK(pair.peers->lagging(kPeer));  // the page says 90 slots applied, but by the former incarnation
  pair.page_of_peer[ReplicaCounter::kAppliedSlots].set_release(49);
  pair.page_of_peer.incarnation.set_release(2);
  pair.peers->note_returns();
  CHECK(pair.peers->lagging(kPeer));
  pair.page_of_peer[ReplicaCounter::kAppliedSlots].set_release(50);
  pair.peers->note_returns();
  CHECK_FALSE(pair.peers->any_lagging());

  second.open();
  CHECK(pair.poll().empty());
  second.die();
  CHECK(pair.poll() == std::vector<ReplicaIncarnation>{second.name()});
}

TEST_CASE("a next incarnation proves the death of the one before, whatever its segment says") {
  TestIncarnation first(1), second(2), third(3);
  first.open();
  Pair pair(first);
  first.die();
  CHECK(pair.begin(second) == std::vector<ReplicaIncarnation>{first.name()});
  pair.connect(second, Slot(0));
  // The second never opened its segment: it has no lock for the kernel to mark.
  CHECK(pair.poll().empty());
  CHECK(pair.begin(third) == std::vector<ReplicaIncarnation>{second.name()});
  CHECK(pair.segments->newest().at(1) == Incarnation(3));
}

TEST_CASE("segments of dead incarnations are read by name, those of others are not") {
  TestIncarnation first(1), second(2), third(3);
  first.open();
  Pair pair(first);
  CHECK(pair.segments->read(first.name()).status().code() == absl::StatusCode::kFailedPrecondition);
  first.inherit();
  first.die();
  pair.begin(second);
  second.open();
  second.inherit();
  CHECK(pair.segments->read(first.name())->configuration == "votes");
  CHECK(pair.segments->read(second.name()).status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(pair.segments->read(third.name()).status().code() == absl::StatusCode::kNotFound);
  second.die();
  pair.begin(third);
  CHECK(pair.segments->read(second.name()).ok());
  CHECK(pair.segments->read(first.name()).ok());
}

TEST_CASE("a first incarnation that never opened its segment stored nothing: that is known, not missing") {
  TestIncarnation first(1), second(2);
  Pair pair(first);
  CHECK(pair.segments->read(first.name()).status().code() == absl::StatusCode::kFailedPrecondition);  // it may open it
  pair.begin(second);
  const auto view = pair.segments->read(first.name());
  REQUIRE(view.ok());
  CHECK(view->accepted.empty());
  CHECK(view->incarnation == Incarnation(1));
}

}  // namespace ingot
