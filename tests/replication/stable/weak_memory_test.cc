// The stable segment on a machine that reorders stores and loads: its readers conclude nothing that a machine which
// only interleaves would not show them, whether the writer lives or died after any of its stores; and each order that
// the segment names is needed.
#include <linux/futex.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replication/stable/layout.h"
#include "replication/stable/segment.h"
#include "replication/stable/view.h"
#include "tests/core/weak_reader.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

using Kind = StableWrite::Kind;
using Program = std::function<void(StableSegment&, const StoreLog&)>;

constexpr std::size_t kBytes = 11 * 4096;      // the least with room for configurations
constexpr std::size_t kSmallBytes = 2 * 4096;  // a ring of 4096 bytes
constexpr std::size_t kFutexWord = offsetof(StableHeader, lock);
constexpr std::size_t kWasLocked = offsetof(StableHeader, lock) + sizeof(pthread_mutex_t);

std::shared_ptr<const std::string> text(std::string command) {
  return std::make_shared<const std::string>(std::move(command));
}

// A segment whose writer has run a program, and the log of its stores.
class Written {
 public:
  Written(std::size_t bytes, const Program& program) : log_(bytes) {
    const auto fd = create_segment("ingot-test-weak", bytes);
    REQUIRE(fd.ok());
    writer_ = with_memory(log_, [&] {
      auto opened = StableSegment::open(fd->get(), EndpointId(2), Incarnation(3), bytes);
      REQUIRE(opened.ok());
      program(**opened, log_);
      return *std::move(opened);
    });
    INFO("a store that the model did not see would be tested in order");
    REQUIRE(log_.changed_unseen(kFutexWord, kWasLocked) == std::nullopt);
  }

  const StoreLog& log() const { return log_; }

  // What the kernel does when the writer dies after its first `stores` stores.
  void die_after(std::size_t stores) {
    log_.cut(stores);
    const std::uint32_t mark = FUTEX_WAITERS | FUTEX_OWNER_DIED;
    log_.store(log_.base() + kFutexWord, &mark, sizeof mark, std::memory_order_release);
  }

 private:
  StoreLog log_;
  std::unique_ptr<StableSegment> writer_;
};

// ---- Readers -------------------------------------------------------------------------------------------------------

// "": the reader was overtaken, or the bytes are damaged.
std::string text_of(const absl::StatusOr<StableView>& view) {
  if (view.ok()) return to_text(*view);
  return absl::IsNotFound(view.status()) ? "not opened" : "";
}

std::string whole(std::span<const std::byte> segment) { return text_of(StableView::read(segment)); }

std::string cells(std::span<const std::byte> segment) { return text_of(StableView::read_without_records(segment)); }

std::string inheritance(std::span<const std::byte> segment) {
  const auto incarnation = StableView::incarnation_in(segment);
  return std::to_string(incarnation ? incarnation->value() : 0) +
         (StableView::ended_before_inheriting(segment) ? " inherited nothing" : " counts");
}

std::string extent(std::span<const std::byte> segment) {
  const auto extent = StableView::extent_in(segment);
  if (!extent) return "";
  return std::to_string(extent->accepted_end.value()) + " " + std::to_string(extent->leader_ballot.value());
}

std::string writer(std::span<const std::byte> segment) {
  return std::to_string(static_cast<int>(StableView::writer_state(segment)));
}

std::string whole_if_gone(std::span<const std::byte> segment) {
  return StableView::writer_state(segment) == WriterState::kGone ? "gone: " + whole(segment) : "may live";
}

std::string all_if_gone(std::span<const std::byte> segment) {
  if (StableView::writer_state(segment) != WriterState::kGone) return "may live";
  return whole(segment) + cells(segment) + inheritance(segment) + extent(segment);
}

// ---- Writers -------------------------------------------------------------------------------------------------------

struct Case {
  const char* name;
  std::size_t bytes;
  std::vector<StableWrite> writes;
  bool cleans = false;

  // Also notes the number of stores before each write, and after the last.
  Program program(std::vector<std::size_t>* ends = nullptr) const {
    return [this, ends](StableSegment& segment, const StoreLog& log) {
      const auto note = [&] {
        if (ends != nullptr) ends->push_back(log.size());
      };
      for (const StableWrite& write : writes) {
        note();
        REQUIRE(segment.store(write));
      }
      note();
      if (cleans) segment.clean();
      note();
    };
  }
};

StableWrite promise(std::uint64_t epoch, std::uint64_t ballot) {
  return {Kind::kPromise, Epoch(epoch), Ballot(ballot), Slot(0), nullptr};
}
StableWrite vote(std::uint64_t epoch, std::uint64_t slot, std::string command) {
  return {Kind::kAccepted, Epoch(epoch), Ballot(1), Slot(slot), text(std::move(command))};
}
StableWrite lead(std::uint64_t ballot, std::uint64_t first) {
  return {Kind::kLeading, Epoch(1), Ballot(ballot), Slot(first), nullptr};
}
StableWrite propose(std::uint64_t ballot, std::uint64_t slot, std::string command) {
  return {Kind::kProposed, Epoch(1), Ballot(ballot), Slot(slot), text(std::move(command))};
}
StableWrite configure(std::string content) { return {Kind::kConfiguration, {}, {}, {}, text(std::move(content))}; }

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases{
      {"opened", kBytes, {}},
      {"promised", kBytes, {promise(1, 3)}},
      {"voted once", kBytes, {vote(1, 0, "a command of some words")}},
      {"configured once", kBytes, {configure("some")}},
      {"roles", kBytes, {promise(1, 3), lead(4, 2), promise(2, 5)}},
      {"voted",
       kBytes,
       {vote(1, 0, ""),
        vote(1, 1, "a command of some words"),
        vote(2, 1, "in the next epoch"),
        {Kind::kOutcome, Epoch(2), Ballot(1), Slot(1), nullptr}}},
      {"proposed", kBytes, {propose(2, 0, "zero"), propose(2, 1, "one"), lead(2, 0), propose(2, 2, "two")}},
      {"configured", kBytes, {configure("some"), configure("others, and more"), configure("x")}},
      {"trimmed",
       kBytes,
       {vote(1, 0, "zero"),
        vote(1, 1, "one"),
        vote(1, 2, "two"),
        {Kind::kTrimmed, Epoch(1), Ballot(1), Slot(2), nullptr}}},
      // Slot 0's vote counts and holds back that of slot 5, which is replaced. The promise shows that all are stored.
      {"cleaned",
       kSmallBytes,
       {vote(1, 0, "kept"), vote(1, 5, std::string(300, 'a')), vote(1, 5, std::string(300, 'b')), promise(1, 3)},
       true},
  };
  return cases;
}

// What is read if the writer dies after so many stores.
std::vector<std::string> states_at(const std::vector<std::size_t>& ends, const Case& of) {
  std::vector<std::string> states;
  for (const std::size_t stores : ends) {
    Written written(of.bytes, of.program());
    written.die_after(stores);
    std::set<std::string> texts = interleaved(written.log(), whole_if_gone);
    texts.erase("may live");
    REQUIRE(texts.size() == 1);
    REQUIRE(*texts.begin() != "gone: ");
    states.push_back(*texts.begin());
  }
  return states;
}

const Case& case_named(std::string_view name) {
  for (const Case& each : all_cases()) {
    if (each.name == name) return each;
  }
  FAIL("no such case: " << name);
  return all_cases().front();
}

// ---- Orders --------------------------------------------------------------------------------------------------------

// Each ordered access, and where its absence shows.
struct Row {
  const char* cell;
  OrderedAccess access;
  const char* name;  // of a case
  Reader reader;
};

const std::vector<Row>& all_rows() {
  constexpr std::size_t kMagic = offsetof(StableHeader, magic);
  constexpr std::size_t kFlips = offsetof(StableHeader, flips);
  constexpr std::size_t kHead = offsetof(StableHeader, head);
  constexpr std::size_t kTail = offsetof(StableHeader, tail);
  constexpr std::size_t kConfigurationFlips = offsetof(StableHeader, configuration_flips);
  static const std::vector<Row> rows{
      {"magic", {kMagic, true}, "opened", whole},
      {"magic", {kMagic, false}, "opened", whole},
      {"was_locked", {kWasLocked, true}, "opened", writer},
      {"was_locked", {kWasLocked, false}, "opened", writer},
      {"flips", {kFlips, true}, "promised", cells},
      {"flips", {kFlips, false}, "promised", cells},
      {"configuration_flips", {kConfigurationFlips, true}, "configured once", cells},
      {"configuration_flips", {kConfigurationFlips, false}, "configured once", cells},
      {"head", {kHead, true}, "cleaned", whole},
      {"head", {kHead, false}, "cleaned", whole},
      {"tail", {kTail, true}, "voted once", whole},
      {"tail", {kTail, false}, "voted once", whole},
  };
  return rows;
}

}  // namespace

TEST_CASE("readers of a living writer's segment conclude what interleaving shows") {
  std::set<OrderedAccess> met;
  for (const Case& each : all_cases()) {
    Written written(each.bytes, each.program());
    for (const Reader& reader :
         {Reader(whole), Reader(cells), Reader(inheritance), Reader(extent), Reader(writer), Reader(whole_if_gone)}) {
      INFO(each.name);
      CHECK(shown_by_weakness(written.log(), reader, {}, &met) == std::nullopt);
    }
    const auto releases = written.log().releases();
    met.insert(releases.begin(), releases.end());
  }
  std::set<OrderedAccess> listed{{kFutexWord, false}};  // pairs with the kernel: below
  for (const Row& row : all_rows()) listed.insert(row.access);
  CHECK(met == listed);
}

// A write is in place or it is not, whichever of its stores was the last.
TEST_CASE("after a writer's death its segment is read whole and final, whichever store was the last") {
  for (const Case& each : all_cases()) {
    std::vector<std::size_t> ends;
    Written written(each.bytes, each.program(&ends));
    const std::vector<std::string> states = states_at(ends, each);
    for (std::size_t stores = written.log().size() + 1; stores-- > 0;) {
      INFO(each.name << ", died after store " << stores);
      written.die_after(stores);
      CHECK(shown_by_weakness(written.log(), all_if_gone) == std::nullopt);
      std::set<std::string> texts = interleaved(written.log(), whole_if_gone);
      texts.erase("may live");
      if (stores < ends.front()) continue;
      REQUIRE(texts.size() == 1);
      const auto next = std::lower_bound(ends.begin(), ends.end(), stores) - ends.begin();
      const std::string& left = *texts.begin();
      CHECK((left == states[next] || (stores < ends[next] && left == states[next - 1])));
    }
  }
}

TEST_CASE("each order of the segment is needed") {
  for (const Row& row : all_rows()) {
    INFO(row.cell << (row.access.release ? ", release" : ", acquire"));
    const Case& with = case_named(row.name);
    const Written written(with.bytes, with.program());
    CHECK(shown_by_weakness(written.log(), row.reader, row.access) != std::nullopt);
  }
}

// The kernel's mark, or glibc's unlock, and the load that decides whether the writer is gone.
TEST_CASE("the mark of a writer's death is needed with both its orders") {
  const Case& with = case_named("voted");
  Written written(with.bytes, with.program());
  written.die_after(written.log().size());
  CHECK(shown_by_weakness(written.log(), whole_if_gone, OrderedAccess{kFutexWord, true}) != std::nullopt);
  CHECK(shown_by_weakness(written.log(), whole_if_gone, OrderedAccess{kFutexWord, false}) != std::nullopt);
}

// Rings that are reused and cleaned many times, so that living writers overtake their readers.
TEST_CASE("long histories conclude what interleaving shows") {
  std::size_t read = 0, runs = 0, caught = 0;
  const OrderedAccess flips{offsetof(StableHeader, flips), false};
  for (const std::uint64_t seed : ingot::testing::seeds(40)) {
    INFO("seed " << seed);
    const Written written(kBytes, [seed](StableSegment& segment, const StoreLog&) {
      StableScript script(seed, 3000, 40);
      for (int i = 0; i < 160; ++i) static_cast<void>(segment.store(script.next()));
    });
    const Reader counted = [&read](std::span<const std::byte> segment) {
      const std::string text = whole(segment);
      read += text.empty() ? 0 : 1;
      return text;
    };
    for (std::uint64_t run = 0; run < 30; ++run, ++runs) {
      CHECK(drawn_by_weakness(written.log(), counted, seed * 1000 + run) == std::nullopt);
      caught += drawn_by_weakness(written.log(), whole, seed * 1000 + run, flips) ? 1 : 0;
    }
  }
  if (ingot::testing::one_seed_only()) return;
  CHECK(read > runs / 4);  // most readers are not overtaken
  CHECK(caught > 0);
}

}  // namespace ingot::test
