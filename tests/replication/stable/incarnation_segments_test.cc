// Which segments of earlier incarnations are kept, and what peers know of replicas that die and restart.
#include "replication/stable/incarnation_segments.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/check.h"
#include "replication/replica/peer_segments.h"
#include "replication/replica/peer_states.h"
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

// An entry of a list of segments, with what its segment would say.
struct Listed {
  Incarnation incarnation{1};
  std::optional<StableExtent> extent{};
};

Listed listed(std::uint32_t incarnation, std::uint64_t accepted_end = 0, std::uint64_t leader_ballot = 0) {
  return {Incarnation(incarnation), StableExtent{Slot(accepted_end), Ballot(leader_ballot)}};
}

std::vector<std::uint32_t> numbers(const std::deque<Listed>& segments) {
  std::vector<std::uint32_t> numbers;
  for (const Listed& each : segments) numbers.push_back(each.incarnation.value());
  return numbers;
}

std::vector<std::uint32_t> kept_after_release(std::deque<Listed> segments, std::uint64_t published) {
  std::vector<std::deque<Listed>> replicas{std::move(segments)};
  release_segments(std::span(replicas), Slot(published), [](const Listed& each) { return each.extent; });
  return numbers(replicas[0]);
}

using Numbers = std::vector<std::uint32_t>;

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
    segments->begin(next.name(), next.segment, [&](ReplicaIncarnation name) { note_death(name, died); });
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

TEST_CASE("an incarnation that ended before it had said anything is dropped when the next one begins") {
  std::deque<int> kept;
  for (int incarnation = 1; incarnation <= 12; ++incarnation) {
    add_incarnation(kept, incarnation, [&](int ended) { return ended == 1 || ended % 3 == 0; });
  }
  CHECK(kept == std::deque<int>{1, 3, 6, 9, 12});
}

TEST_CASE("a segment is released when a published snapshot holds its votes, however many there are") {
  std::deque<Listed> segments;
  for (std::uint32_t i = 1; i <= 40; ++i) segments.push_back(listed(i, 10 * i));
  CHECK(kept_after_release(segments, 0).size() == 40);
  CHECK(kept_after_release(segments, 369) == Numbers{37, 38, 39, 40});
  CHECK(kept_after_release(segments, 370) == Numbers{38, 39, 40});
  CHECK(kept_after_release(segments, 1000) == Numbers{39, 40});  // its successor inherits the votes of the last but one
}

TEST_CASE("a segment without votes is released at once, one that cannot be read never") {
  CHECK(kept_after_release({listed(1), listed(2), listed(3), listed(4)}, 0) == Numbers{3, 4});
  CHECK(kept_after_release({listed(1), {Incarnation(2), {}}, listed(3), listed(4)}, 1000) == Numbers{2, 3, 4});
}

TEST_CASE("the segment of the last leader that completed its takeover is kept") {
  const std::deque<Listed> two_leaders{listed(1, 0, 3), listed(2, 0, 4), listed(3), listed(4)};
  CHECK(kept_after_release(two_leaders, 1000) == Numbers{2, 3, 4});
  std::vector<std::deque<Listed>> replicas{two_leaders, {listed(1, 0, 9)}};  // another replica has led since
  release_segments(std::span(replicas), Slot(1000), [](const Listed& each) { return each.extent; });
  CHECK(numbers(replicas[0]) == Numbers{3, 4});
}

TEST_CASE("a process keeps what the supervisor keeps, and knows what it lacks of it") {
  std::deque<Listed> segments{listed(2), listed(3), listed(5), listed(9)};
  const std::vector<Incarnation> kept{Incarnation(3), Incarnation(4), Incarnation(8), Incarnation(9), Incarnation(11)};
  const auto dropped = keep_listed(segments, kept, [](Incarnation unknown) { return Listed{unknown, {}}; });
  CHECK(numbers(segments) == Numbers{3, 4, 8, 9});
  CHECK((segments[0].extent && !segments[1].extent && !segments[2].extent && segments[3].extent));
  CHECK(numbers({dropped.begin(), dropped.end()}) == Numbers{2, 5});
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
  CHECK(pair.segments->read(first.name(), Slot(0)).status().code() == absl::StatusCode::kFailedPrecondition);
  first.inherit();
  first.die();
  pair.begin(second);
  second.open();
  second.inherit();
  CHECK(pair.segments->read(first.name(), Slot(0))->configuration == "votes");
  CHECK(pair.segments->read(second.name(), Slot(0)).status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(pair.segments->read(third.name(), Slot(0)).status().code() == absl::StatusCode::kNotFound);
  second.die();
  pair.begin(third);
  CHECK(pair.segments->read(second.name(), Slot(0)).ok());
  CHECK(pair.segments->read(first.name(), Slot(0)).ok());
}

TEST_CASE("a released segment is known: all that it held is below the published slot; a missing one is not") {
  TestIncarnation first(1), second(2), third(3), fourth(4);
  first.open();
  Pair pair(first);
  first.die();
  pair.begin(second);
  pair.begin(third);
  const std::vector<Incarnation> kept{Incarnation(2)};
  CHECK(pair.segments->keep(kPeer, kept).size() == 1);
  const auto released = pair.segments->read(first.name(), Slot(70));
  REQUIRE(released.ok());
  CHECK(released->released_below == Slot(70));
  CHECK((released->replica == kPeer && released->incarnation == Incarnation(1)));
  // The supervisor keeps a third one, too, which has not come here: what it holds is unknown.
  pair.segments->begin({kPeer, Incarnation(5)}, nullptr, [](ReplicaIncarnation) {});
  pair.segments->keep(kPeer, std::vector<Incarnation>{Incarnation(2), Incarnation(3), Incarnation(4)});
  CHECK(pair.segments->read(fourth.name(), Slot(70)).status().code() == absl::StatusCode::kNotFound);
  CHECK(pair.segments->read(first.name(), Slot(70)).ok());
}

TEST_CASE("a first incarnation that never opened its segment stored nothing: that is known, not missing") {
  TestIncarnation first(1), second(2);
  Pair pair(first);
  CHECK(pair.segments->read(first.name(), Slot(0)).status().code() ==
        absl::StatusCode::kFailedPrecondition);  // it may open it
  pair.begin(second);
  const auto view = pair.segments->read(first.name(), Slot(0));
  REQUIRE(view.ok());
  CHECK(view->accepted.empty());
  CHECK(view->incarnation == Incarnation(1));
}

}  // namespace ingot
