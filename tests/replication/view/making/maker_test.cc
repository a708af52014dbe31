// What a maker asks for, refuses, and tells, case by case.
#include "replication/view/making/maker.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replication/view/generation/reader.h"
#include "tests/replication/view/generation/view_world.h"

namespace ingot::test {
namespace {

ViewChange entry(std::string_view key, ViewRevision revision, std::string_view value = "v") {
  return {.key = key, .value = value, .revision = revision, .created = revision, .version = 1};
}

class Making {
 public:
  explicit Making(std::size_t bytes = kGenerationBytesMin, const MakerOptions& options = {}) : memory(bytes) {
    auto created = GenerationWriter::create(memory.bytes(), {.seed = 1});
    REQUIRE(created.ok());
    writer = *std::move(created);
    maker = std::make_unique<GenerationMaker>(*writer, options);
  }
  MakerEffects page(ViewRevision revision, const std::vector<ViewChange>& entries, std::string_view next = "") {
    return maker->on_page({.revision = revision, .entries = entries, .next = next}, now_ms);
  }
  MakerEffects changes(SourcePosition next, const std::vector<ViewChange>& entries) {
    return maker->on_changes({.entries = entries, .next = next}, now_ms);
  }
  // The published keys, each with its revision.
  std::string shown() const {
    auto reader = ViewReader::open(memory.bytes());
    if (!reader.ok() || reader->begin() != ReadOutcome::kOk) return "none";
    ViewAnswer answer;
    REQUIRE(reader->range({}, answer) == ReadOutcome::kOk);
    std::string text;
    for (std::size_t i = 0; i < answer.size(); ++i) {
      text += std::string(answer[i].key) + std::to_string(answer[i].revision) + " ";
    }
    return text;
  }

  GuardedMemory memory;
  std::unique_ptr<GenerationWriter> writer;
  std::unique_ptr<GenerationMaker> maker;
  std::uint64_t now_ms = 1;
};

TEST_CASE("pages are listed by key, changes kept from the first one on, and the first root has all of them") {
  Making making;
  auto effects = making.maker->start(0);
  CHECK(effects.ask_page == AskPage{""});
  CHECK(!effects.ask_changes);
  effects = making.page(10, {entry("a", 3), entry("b", 9)}, "c");
  CHECK(effects.ask_page == AskPage{"c"});
  REQUIRE(effects.ask_changes);
  CHECK(effects.ask_changes->from == SourcePosition{11, 0});
  CHECK(!effects.published);
  // b changes after its page; d changes before and after its page; a's change is in no page.
  effects = making.changes({14, 0}, {entry("a", 11), entry("b", 12), entry("d", 12), entry("d", 13)});
  CHECK(!effects.published);
  effects = making.page(12, {entry("d", 12), entry("e", 2)});
  CHECK(!effects.ask_page);
  REQUIRE(effects.published == 13);
  CHECK(effects.ready);
  CHECK(making.shown() == "a11 b12 d13 e2 ");
  effects = making.changes({15, 0}, {{.key = "e", .deleted = true, .revision = 14}});
  CHECK(effects.published == 14);
  CHECK(!effects.ready);
  CHECK(making.shown() == "a11 b12 d13 ");
}

TEST_CASE("the first root waits for the newest page's revision") {
  Making making;
  making.maker->start(0);
  making.page(10, {entry("a", 3)}, "c");
  auto effects = making.page(20, {entry("c", 20)});
  CHECK(!effects.published);
  effects = making.changes({19, 0}, {entry("a", 18)});
  CHECK(!effects.published);
  effects = making.changes({21, 0}, {entry("c", 20)});
  CHECK(effects.published == 20);
  CHECK(making.shown() == "a18 c20 ");
}

TEST_CASE("a part of a revision is not published") {
  Making making;
  making.maker->start(0);
  CHECK(making.page(10, {entry("a", 3)}).published == 10);
  auto effects = making.changes({11, 1}, {entry("a", 11)});
  CHECK(!effects.published);
  CHECK(effects.ask_changes->from == SourcePosition{11, 1});
  CHECK(making.shown() == "a3 ");
  CHECK(making.changes({12, 0}, {entry("b", 11)}).published == 11);
  CHECK(making.shown() == "a11 b11 ");
}

TEST_CASE("a page from a replica that is behind is asked for again, after a while") {
  Making making;
  making.maker->start(0);
  making.page(10, {entry("a", 3)}, "c");
  auto effects = making.page(9, {entry("c", 2)});
  CHECK(!effects.ask_page);
  CHECK(making.maker->waits_for_time());
  CHECK(!making.maker->tick(making.now_ms).ask_page);
  effects = making.maker->tick(making.now_ms + kAskAgainMs);
  CHECK(effects.ask_page == AskPage{"c"});
  CHECK(making.page(10, {entry("c", 2)}).published == 10);
}

TEST_CASE("a compaction that overtakes the list re-asks the older pages alone, and what they have lost is gone") {
  Making making;
  making.maker->start(0);
  making.page(10, {entry("a", 3), entry("b", 4)}, "c");
  making.page(30, {entry("c", 5)}, "d");
  auto effects = making.maker->on_compacted(25, 2);  // page d is on its way
  REQUIRE(effects.ask_changes);
  CHECK(effects.ask_changes->from == SourcePosition{25, 0});
  effects = making.page(31, {});
  CHECK(effects.ask_page == AskPage{""});
  effects = making.page(31, {entry("b", 24), entry("c", 5)}, "");  // a was deleted; c lies behind the missing part
  CHECK(!effects.ask_page);
  effects = making.changes({32, 0}, {entry("c", 31)});
  CHECK(effects.published == 31);
  CHECK(making.shown() == "b24 c31 ");
}

TEST_CASE("a compaction that overtakes a generation with a root ends it, at that root") {
  Making making;
  making.maker->start(0);
  making.page(10, {entry("a", 3)});
  const auto effects = making.maker->on_compacted(25, 2);
  CHECK(effects.give_up == WhyReplaced::kOvertaken);
  CHECK(!making.maker->tick(1000).ask_changes);
  CHECK(!making.maker->waits_for_time());
  CHECK(making.shown() == "a3 ");
}

TEST_CASE("changes that wait beyond their bound are forgotten, and older pages asked for again") {
  Making making(kGenerationBytesMin, {.waiting_bytes_max = 1000});
  making.maker->start(0);
  making.page(10, {entry("a", 3)}, "c");
  const std::string value(1000, 'v');
  making.changes({13, 0}, {entry("d", 11, value), entry("e", 12, value)});
  making.page(11, {entry("d", 11)});
  CHECK(making.maker->pages_asked_again() == 1);
  const auto effects = making.maker->tick(making.now_ms + kAskAgainMs);
  CHECK(effects.ask_page == AskPage{"c"});
  CHECK(making.page(12, {entry("d", 11), entry("e", 12)}).published == 12);
  CHECK(making.shown() == "a3 d11 e12 ");
}

TEST_CASE("what no source answers is given up as damaged") {
  const auto page_of = [](ViewRevision revision, const std::vector<ViewChange>& entries, std::string_view next) {
    Making making;
    making.maker->start(0);
    return making.page(revision, entries, next).give_up;
  };
  CHECK(!page_of(10, {entry("a", 10)}, "b"));
  CHECK(page_of(0, {}, "") == WhyReplaced::kDamaged);
  CHECK(page_of(10, {entry("a", 11)}, "") == WhyReplaced::kDamaged);
  CHECK(page_of(10, {entry("b", 1), entry("a", 1)}, "") == WhyReplaced::kDamaged);
  CHECK(page_of(10, {entry("a", 1), entry("a", 1)}, "") == WhyReplaced::kDamaged);
  CHECK(page_of(10, {entry("c", 1)}, "b") == WhyReplaced::kDamaged);
  CHECK(page_of(10, {{.key = "a", .deleted = true, .revision = 1}}, "") == WhyReplaced::kDamaged);
  const auto changes_of = [](SourcePosition next, const std::vector<ViewChange>& entries) {
    Making making;
    making.maker->start(0);
    making.page(10, {});
    return making.changes(next, entries).give_up;
  };
  CHECK(!changes_of({13, 0}, {entry("a", 11), entry("b", 12)}));
  CHECK(changes_of({10, 0}, {}) == WhyReplaced::kDamaged);
  CHECK(changes_of({13, 0}, {entry("a", 10)}) == WhyReplaced::kDamaged);
  CHECK(changes_of({13, 0}, {entry("a", 13)}) == WhyReplaced::kDamaged);
  CHECK(changes_of({13, 0}, {entry("a", 12), entry("b", 11)}) == WhyReplaced::kDamaged);
  CHECK(changes_of({13, 0}, {entry("", 11)}) == WhyReplaced::kDamaged);
}

TEST_CASE("a larger generation is called for at three quarters, and this one goes on until it is full") {
  Making making;
  making.maker->start(0);
  making.page(10, {});
  const std::string value(8000, 'v');
  ViewRevision revision = 10;
  std::optional<WhyReplaced> replace, give_up;
  double live_share = 0;
  while (!give_up) {
    ++revision;
    making.now_ms += 30;
    const auto effects = making.changes({revision + 1, 0}, {entry("key" + std::to_string(revision), revision, value)});
    give_up = effects.give_up;
    if (effects.replace) {
      CHECK(!replace);
      replace = effects.replace;
      live_share = static_cast<double>(making.writer->live_bytes()) / static_cast<double>(making.writer->bytes());
    }
    REQUIRE((give_up || effects.ask_changes));
  }
  CHECK(replace == WhyReplaced::kFull);
  CHECK(live_share >= 0.75);
  CHECK(live_share < 0.8);
  CHECK(give_up == WhyReplaced::kFull);
  CHECK(making.shown() != "none");
}

TEST_CASE("a generation that is far larger than what lives in it is called sparse") {
  Making making(2 * kViewBytesMin);
  making.maker->start(0);
  CHECK(making.page(10, {entry("a", 1)}).replace == WhyReplaced::kSparse);
  Making small(kViewBytesMin);
  small.maker->start(0);
  CHECK(!small.page(10, {entry("a", 1)}).replace);
}

TEST_CASE("no changes are asked for while what is retired takes the room") {
  Making making;
  making.maker->start(0);
  making.page(10, {});
  const std::string value(50'000, 'v');
  ViewRevision revision = 10;
  MakerEffects effects;
  do {  // at one instant: nothing is used again
    ++revision;
    effects = making.changes({revision + 1, 0}, {entry("key", revision, value)});
    REQUIRE(effects.published == revision);
  } while (effects.ask_changes);
  CHECK(making.maker->waits_for_time());
  CHECK(!making.maker->tick(making.now_ms + 1).ask_changes);
  CHECK(making.maker->tick(making.now_ms + kGraceMs).ask_changes);
}

TEST_CASE("a generation has twice the bytes of what lives in it, within bounds") {
  CHECK(bytes_for_live(0, kGenerationBytesMax) == kViewBytesMin);
  CHECK(bytes_for_live(kViewBytesMin, kGenerationBytesMax) == 2 * kViewBytesMin);
  CHECK(bytes_for_live(kViewBytesMin + 1, kGenerationBytesMax) == 2 * kViewBytesMin + 4096);
  CHECK(bytes_for_live(kGenerationBytesMax, kGenerationBytesMax) == kGenerationBytesMax);
  CHECK(bytes_for_live(~std::uint64_t{0}, kGenerationBytesMax) == kGenerationBytesMax);
  CHECK(bytes_for_source({.keys = ~std::uint64_t{0}, .bytes = ~std::uint64_t{0}}, kGenerationBytesMax) ==
        kGenerationBytesMax);
  CHECK(bytes_for_source({.keys = 1'000'000, .bytes = 80'000'000}, kGenerationBytesMax) ==
        2 * (80'000'000 + 1'000'000 * kEntryExtraBytes) / 4096 * 4096 + 4096);
}

}  // namespace
}  // namespace ingot::test
