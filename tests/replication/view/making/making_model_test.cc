// A generation is made from a store that goes on, is compacted, answers late and from replicas that are behind, or not
// at all. Whatever is published is the store at that revision; when the store rests, all of it is published.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replication/view/making/maker.h"
#include "tests/replication/view/generation/view_world.h"
#include "tests/replication/view/making/model_source.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

struct Totals {
  std::uint64_t roots = 0, asked_again = 0, overtaken = 0, full = 0, reads_overtaken = 0;
};

class Run {
 public:
  Run(std::uint64_t seed, Totals& totals)
      : prng_(seed),
        totals_(totals),
        source_(prng_, 5 + prng_.below(200)),
        value_bytes_max_(prng_.chance(0.1) ? 80'000 : 60),
        entries_max_(1 + prng_.below(30)),
        lag_max_(prng_.below(12)),
        waiting_bytes_max_(prng_.chance(0.5) ? prng_.below(3000) : kWaitingBytesMax) {}

  std::string go() {
    for (std::uint64_t i = prng_.below(300); i > 0; --i) source_.write(value_bytes_max_);
    begin();
    const std::uint64_t steps = 200 + prng_.below(600);
    for (std::uint64_t i = 0; i < steps && wrong_.empty(); ++i) step();
    settle();
    return wrong_;
  }

 private:
  void begin() {
    maker_.reset();
    memory_ = std::make_unique<GuardedMemory>(bytes_);
    auto created = GenerationWriter::create(memory_->bytes(), {.seed = prng_()});
    REQUIRE(created.ok());
    writer_ = *std::move(created);
    maker_ = std::make_unique<GenerationMaker>(*writer_, MakerOptions{.waiting_bytes_max = waiting_bytes_max_});
    page_.reset();
    changes_.reset();
    ready_ = false;
    follow(maker_->start(now_ms_));
  }

  void step() {
    now_ms_ += prng_.below(10);
    switch (prng_.below(12)) {
      case 0:
      case 1:
      case 2: return source_.write(value_bytes_max_);
      case 3:
        if (prng_.chance(0.15)) source_.compact(source_.revision() - static_cast<ViewRevision>(prng_.below(20)));
        return;
      case 4: return follow(maker_->tick(now_ms_));
      case 5:
      case 6:
      case 7: return answer_page(prng_.chance(0.1));
      default: return answer_changes(prng_.chance(0.1));
    }
  }

  // Nothing changes any more, and all answers come.
  void settle() {
    lag_max_ = 0;
    for (int i = 0; i < 5000 && wrong_.empty() && !done(); ++i) {
      now_ms_ += 30;
      follow(maker_->tick(now_ms_));
      answer_page(false);
      answer_changes(false);
    }
    if (wrong_.empty() && !done()) wrong_ = "the store rests, and its last revision is not published";
  }
  bool done() const { return maker_->published() && writer_->revision() == source_.revision(); }

  ViewRevision somewhere() {
    return std::max<ViewRevision>(1, source_.revision() - static_cast<ViewRevision>(prng_.below(lag_max_ + 1)));
  }

  void answer_page(bool fails) {
    if (!page_) return;
    const AskPage ask = *std::exchange(page_, std::nullopt);
    if (fails) return follow(maker_->on_page_failed(now_ms_));
    follow(maker_->on_page(source_.page(ask, somewhere(), entries_max_).page(), now_ms_));
  }

  void answer_changes(bool fails) {
    if (!changes_) return;
    const AskChanges ask = *std::exchange(changes_, std::nullopt);
    if (fails) return follow(maker_->on_changes_failed(now_ms_));
    const auto answer = source_.changes(ask, somewhere());
    follow(answer ? maker_->on_changes(answer->changes(), now_ms_)
                  : maker_->on_compacted(source_.compacted(), now_ms_));
  }

  void follow(const MakerEffects& effects) {
    if (effects.published) check(*effects.published, effects.ready);
    if (effects.give_up) return begin_anew(*effects.give_up);
    const bool twice = (effects.ask_page && page_) || (effects.ask_changes && changes_);
    if (twice) wrong_ = "a question is asked while it is open";
    if (effects.ask_page) page_ = effects.ask_page;
    if (effects.ask_changes) changes_ = effects.ask_changes;
    if (!page_ && !changes_ && !maker_->waits_for_time()) wrong_ = "nothing is asked, and nothing waited for";
  }

  void begin_anew(WhyReplaced why) {
    totals_.asked_again += maker_->pages_asked_again();
    switch (why) {
      case WhyReplaced::kFull:
        ++totals_.full;
        bytes_ *= 2;
        break;
      case WhyReplaced::kOvertaken:
        ++totals_.overtaken;
        if (!ready_) wrong_ = "a compaction ended a generation that had no root yet";
        break;
      default: wrong_ = std::string("given up: ") + name_of_why(why);
    }
    if (wrong_.empty()) begin();
  }
  static const char* name_of_why(WhyReplaced why) { return enum_names(why)[static_cast<std::size_t>(why)]; }

  void check(ViewRevision revision, bool ready) {
    ++totals_.roots;
    if (ready == ready_) wrong_ = "the first root makes ready, and no other";
    ready_ = true;
    auto reader = ViewReader::open(memory_->bytes());
    if (!reader.ok() || reader->begin() != ReadOutcome::kOk) {
      wrong_ = "what was published cannot be read";
    } else if (reader->revision() != revision) {
      wrong_ = "the root has revision " + std::to_string(reader->revision());
    }
    ViewAnswer answer;
    if (wrong_.empty() && reader->range({}, answer) != ReadOutcome::kOk) wrong_ = "a range fails";
    if (!wrong_.empty()) return;
    std::vector<KeyState> found;
    for (std::size_t i = 0; i < answer.size(); ++i) found.push_back(state_of(answer[i]));
    const auto expected = source_.model().range("", "", revision);
    if (found != expected) {
      wrong_ = "at " + std::to_string(revision) + ": " + to_text(found) + " instead of " + to_text(expected);
      return;
    }
    wrong_ = check_reads(*reader, source_.model(), source_.keys(), prng_, 5, totals_.reads_overtaken);
  }

  Prng prng_;
  Totals& totals_;
  ModelSource source_;
  const std::size_t value_bytes_max_;
  const std::size_t entries_max_;
  std::uint64_t lag_max_;
  const std::uint64_t waiting_bytes_max_;
  std::size_t bytes_ = kGenerationBytesMin;
  std::unique_ptr<GuardedMemory> memory_;
  std::unique_ptr<GenerationWriter> writer_;
  std::unique_ptr<GenerationMaker> maker_;
  std::optional<AskPage> page_;
  std::optional<AskChanges> changes_;
  bool ready_ = false;
  std::uint64_t now_ms_ = 1;
  std::string wrong_;
};

TEST_CASE("whatever is published is the store's state at that revision") {
  Totals totals;
  for (const std::uint64_t seed : testing::seeds(100)) {
    INFO("seed " << seed);
    REQUIRE(Run(seed, totals).go() == "");
  }
  if (testing::one_seed_only()) return;
  CHECK(totals.roots > 0);
  CHECK(totals.asked_again > 0);
  CHECK(totals.overtaken > 0);
  std::printf("%llu roots, %llu pages asked again, overtaken %llu times, full %llu times\n",
              static_cast<unsigned long long>(totals.roots), static_cast<unsigned long long>(totals.asked_again),
              static_cast<unsigned long long>(totals.overtaken), static_cast<unsigned long long>(totals.full));
}

}  // namespace
}  // namespace ingot::test
