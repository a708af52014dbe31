// What StableRoom grants, a real segment can store, wherever its ring ends.
#include "replication/agreement/stored.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "replication/stable/segment.h"
#include "replication/stable/write.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Kind = StableWrite::Kind;

constexpr std::size_t kBytes = 4 * 1024 * 1024;

std::shared_ptr<const std::string> command_of_bytes(std::size_t bytes) {
  return std::make_shared<const std::string>(bytes, 'c');
}

StableWrite proposal(Slot slot, std::shared_ptr<const std::string> command) {
  return {Kind::kProposed, Epoch(1), Ballot(1), slot, std::move(command)};
}

// A segment whose records for all slots but the newest can be trimmed, so that its tail goes round the ring.
class Ring {
 public:
  Ring() {
    auto created = create_segment("ingot-test-room", kBytes);
    REQUIRE(created.ok());
    fd_ = *std::move(created);
    auto opened = StableSegment::open(fd_.get(), EndpointId(0), Incarnation(1), kBytes);
    REQUIRE(opened.ok());
    segment_ = *std::move(opened);
    REQUIRE(segment_->store({Kind::kLeading, Epoch(1), Ballot(1), Slot(0), nullptr}));
  }

  std::size_t free_bytes() const { return segment_->capacity_bytes() - segment_->used_bytes(); }
  bool store(std::size_t bytes) { return segment_->store(proposal(next_++, command_of_bytes(bytes))); }
  bool store(const StableWrite& write) { return segment_->store(write); }
  void keep(std::uint64_t slots) {
    if (next_ > slots) REQUIRE(segment_->store({Kind::kTrimmed, Epoch(1), Ballot(1), Slot(next_ - slots), nullptr}));
  }
  Slot next() const { return Slot(next_); }

 private:
  StableWrite proposal(std::uint64_t slot, std::shared_ptr<const std::string> command) {
    return ingot::proposal(Slot(slot), std::move(command));
  }

  Descriptor fd_;
  std::unique_ptr<StableSegment> segment_;
  std::uint64_t next_ = 0;
};

// Regression: what one record leaves unused at the ring's end was taken for free by the next, and a takeover that had
// asked for room died.
TEST_CASE("a takeover for which there is room finds room, wherever the ring ends") {
  Prng prng(testing::drawn_seed());
  int granted = 0;
  for (int round = 0; round < 200; ++round) {
    Ring ring;
    // The tail goes to a random place, then records that stay fill the ring up to a random size.
    const std::size_t laps_bytes = prng.below(2 * kBytes);
    for (std::size_t written = 0; written < laps_bytes;) {
      const std::size_t bytes = prng.below(400'000);
      REQUIRE(ring.store(bytes));
      written += stable_record_bytes(bytes);
      ring.keep(1);
    }
    const std::size_t free_bytes = prng.below(kBytes);
    while (ring.free_bytes() > free_bytes) {
      const std::size_t bytes = prng.below(400'000);
      if (ring.free_bytes() < 2 * stable_record_bytes(bytes)) break;
      REQUIRE(ring.store(bytes));
    }
    // A takeover of as much as there is room for; its last records are stored behind the ring's end.
    StableRoom room;
    room.set(ring.free_bytes());
    std::vector<StableWrite> writes;
    for (int refused = 0; refused < 5;) {
      StableWrite write = proposal(ring.next().plus(writes.size()), command_of_bytes(prng.below(900'000)));
      if (room.take(stable_record_bytes(write))) writes.push_back(std::move(write));
      else ++refused;
    }
    StableRoom for_all;
    for_all.set(ring.free_bytes());
    REQUIRE(for_all.take(writes));
    if (writes.size() > 1) ++granted;
    INFO("round " << round);
    for (const StableWrite& write : writes) REQUIRE(ring.store(write));
  }
  CHECK(granted > 30);
}

}  // namespace
}  // namespace ingot
