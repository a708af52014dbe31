// A snapshot decoded in the background or in the loop: the same state, the same refusals.
#include "replication/replica/snapshots/loader.h"

#include <sys/prctl.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "core/stable_hash.h"
#include "core/wire.h"
#include "replication/replica/snapshots/format.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/requests/request.h"
#include "transport/host/huge_pages.h"

namespace ingot {
namespace {

// A state that is its last command. Decoding reports its start, and waits for permission to go on.
class Register final : public StateMachine {
 public:
  std::string apply(Slot, std::string_view command) override { return value = command; }
  std::string query(std::string_view) const override { return value; }
  void save(Sink sink) const override { sink(value); }
  absl::StatusOr<Load> decode(std::string_view snapshot) override {
    begun = true;
    begun.notify_all();
    held.wait(true);
    decoded = true;
    if (snapshot == "bad") return absl::InvalidArgumentError("bad");
    return [this, loaded = std::string(snapshot)]() mutable { value = std::move(loaded); };
  }
  std::uint64_t digest() const override { return hash_bytes(value); }

  void let_go() {
    held = false;
    held.notify_all();
  }

  std::string value;
  std::atomic<bool> begun{false}, held{false}, decoded{false};
};

void put(Applier& applier, std::uint64_t sequence, const std::string& value) {
  Request request;
  request.client = 1;
  request.sequence = sequence;
  request.payload = value;
  std::string batch;
  append_command(batch, request);
  applier.apply(applier.applied(), batch, [](const Applier::Applied&) {});
}

std::string file_of(const Applier& applier) {
  const std::string content = applier.save();
  return snapshot_header(applier.applied(), content) + content;
}

SnapshotLoader::Outcome wait_for(SnapshotLoader& loader) {
  auto outcome = loader.poll();
  while (!outcome) {
    std::this_thread::yield();
    outcome = loader.poll();
  }
  return *std::move(outcome);
}

SnapshotLoader::How either() { return GENERATE(SnapshotLoader::How::kBackground, SnapshotLoader::How::kInline); }

}  // namespace

TEST_CASE("the state is as it was until the load is called; the file's memory is released before") {
  Register saved, state;
  Applier former(saved), applier(state);
  put(former, 1, "first");
  put(former, 2, "second");
  SnapshotLoader loader(either(), applier);
  auto memory = std::make_shared<const std::string>(file_of(former));
  const std::weak_ptr<const std::string> watch = memory;
  loader.start({*memory, std::move(memory)});
  REQUIRE(loader.running());
  auto outcome = wait_for(loader);
  REQUIRE_FALSE(loader.running());
  REQUIRE(outcome.ok());
  CHECK(watch.expired());
  CHECK(outcome->applied == Slot(2));
  CHECK(applier.applied() == Slot(0));
  std::move(outcome->load)();
  CHECK(applier.applied() == Slot(2));
  CHECK(state.value == "second");
  CHECK(applier.digest() == former.digest());
}

TEST_CASE("the state can be used while a snapshot is decoded in the background") {
  Register saved, state;
  Applier former(saved), applier(state);
  for (std::uint64_t i = 1; i <= 3; ++i) put(former, i, "former");
  const std::string file = file_of(former);
  state.held = true;
  SnapshotLoader loader(SnapshotLoader::How::kBackground, applier);
  loader.start({file});
  state.begun.wait(false);
  CHECK_FALSE(loader.poll().has_value());
  put(applier, 1, "meanwhile");
  CHECK(applier.digest() != former.digest());
  CHECK(loader.running());
  state.let_go();
  auto outcome = wait_for(loader);
  REQUIRE(outcome.ok());
  CHECK(state.value == "meanwhile");
  std::move(outcome->load)();
  CHECK(applier.digest() == former.digest());
}

// In a restored instance every later one was decoded in the loop, too, which stood still meanwhile.
TEST_CASE("only the first snapshot is decoded at once, if that is asked for") {
  Register saved, state;
  Applier former(saved), applier(state);
  put(former, 1, "first");
  const std::string first = file_of(former);
  SnapshotLoader loader(SnapshotLoader::How::kFirstInline, applier);
  loader.start({first});
  auto outcome = loader.poll();
  REQUIRE(outcome.has_value());
  REQUIRE(outcome->ok());
  put(former, 2, "second");
  const std::string second = file_of(former);
  state.begun = false;
  state.held = true;
  loader.start({second});
  state.begun.wait(false);
  CHECK_FALSE(loader.poll().has_value());
  state.let_go();
  REQUIRE(wait_for(loader).ok());
}

TEST_CASE("a process has huge pages from the first large snapshot on that it loads") {
  Register state;
  Applier applier(state);
  SnapshotLoader loader(either(), applier);
  std::string file(kHugePagesFromBytes, 'x');  // no snapshot: its size is known before it is decoded
  forbid_huge_pages();
  loader.start({std::string_view(file).substr(1)});
  CHECK_FALSE(wait_for(loader).ok());
  CHECK(::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1);
  loader.start({file});
  CHECK_FALSE(wait_for(loader).ok());
  CHECK(::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0);
}

TEST_CASE("an invalid snapshot is refused, the state is unchanged, and the next one is loaded") {
  Register saved, state;
  Applier former(saved), applier(state);
  put(former, 1, "good");
  const std::string good = file_of(former);
  put(former, 2, "bad");
  const std::string bad = file_of(former);
  const std::string other_slot = snapshot_header(Slot(7), former.save()) + former.save();
  SnapshotLoader loader(either(), applier);
  for (const std::string& file : {std::string(), good.substr(0, good.size() - 1), good + "x", bad, other_slot}) {
    loader.start({file});
    CHECK(absl::IsInvalidArgument(wait_for(loader).status()));
  }
  CHECK(applier.applied() == Slot(0));
  CHECK(state.value.empty());
  loader.start({good});
  auto outcome = wait_for(loader);
  REQUIRE(outcome.ok());
  std::move(outcome->load)();
  CHECK(state.value == "good");
}

TEST_CASE("destruction during a decode waits for its end") {
  Register saved, state;
  Applier former(saved), applier(state);
  put(former, 1, "value");
  const std::string file = file_of(former);
  state.held = true;
  auto loader = std::make_unique<SnapshotLoader>(SnapshotLoader::How::kBackground, applier);
  loader->start({file});
  state.begun.wait(false);
  std::thread later([&] { state.let_go(); });
  loader.reset();
  CHECK(state.decoded);
  CHECK(state.value.empty());
  later.join();
}

}  // namespace ingot
