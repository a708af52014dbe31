// The child that writes a snapshot, and a child that is stopped.
#include "replication/replica/snapshots/writer.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "replication/replica/snapshots/limits.h"

namespace ingot {
namespace {

// A state machine that can stop the process that writes it, as an operator might.
class Stopping final : public StateMachine {
 public:
  std::string apply(Slot, std::string_view) override { return ""; }
  std::string query(std::string_view) const override { return ""; }
  void save(Sink sink) const override {
    if (stops) ::raise(SIGSTOP);
    sink("all of it");
  }
  absl::StatusOr<Load> decode(std::string_view) override { return [] {}; }
  std::uint64_t digest() const override { return 0; }

  bool stops = true;
};

TEST_CASE("a child that is stopped is ended after a while, not sooner, and the next one is written") {
  Stopping state;
  const Applier applier(state);
  SnapshotWriter writer(SnapshotWriter::How::kFork);
  REQUIRE(writer.start(applier).ok());
  for (int i = 0; i < kSnapshotStillTicks; ++i) {
    REQUIRE_FALSE(writer.poll().has_value());
    writer.tick();
  }
  auto outcome = writer.poll();
  while (!outcome) {  // the child may have run until now, and the kernel needs some time
    writer.tick();
    ::usleep(100);
    outcome = writer.poll();
  }
  CHECK(absl::IsInternal(outcome->status()));
  REQUIRE_FALSE(writer.running());

  state.stops = false;
  REQUIRE(writer.start(applier).ok());
  do {
    ::usleep(100);
    outcome = writer.poll();
  } while (!outcome);
  REQUIRE(outcome->ok());
  CHECK((**outcome)->name.slot == applier.applied());
}

}  // namespace
}  // namespace ingot
