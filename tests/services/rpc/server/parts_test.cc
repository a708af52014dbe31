// The parts of the server that are pure: timers, turns, header blocks, memory.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/prng.h"
#include "services/rpc/server/request_head.h"
#include "services/rpc/server/session_memory.h"
#include "services/rpc/server/timers.h"
#include "services/rpc/server/turn_size.h"
#include "services/rpc/server/turns.h"
#include "tests/seeds.h"

namespace ingot::rpc {
namespace {

TEST_CASE("timers are called in order, once, and not when cancelled or destroyed") {
  Timers timers;
  static std::vector<int> called;
  called.clear();
  struct Owner {
    explicit Owner(int number) : number(number) {}
    int number;
    Timer timer{this, [](void* self) { called.push_back(static_cast<Owner*>(self)->number); }};
  };
  Owner one(1), two(2), three(3);
  auto four = std::make_unique<Owner>(4);
  timers.set(three.timer, 30);
  timers.set(one.timer, 10);
  timers.set(two.timer, 5);
  timers.set(two.timer, 20);
  timers.set(four->timer, 15);
  CHECK(timers.nearest_ns() == 10);
  four.reset();
  CHECK(timers.run(9, kTimersPerRound) == 0);
  CHECK(timers.run(20, kTimersPerRound) == 2);
  CHECK(called == std::vector<int>{1, 2});
  three.timer.cancel();
  CHECK(timers.nearest_ns() == Timer::kNever);
  CHECK(timers.run(100, kTimersPerRound) == 0);
}

TEST_CASE("a timer may set itself again and cancel others while it is called") {
  static Timers timers;
  static int first = 0, second = 0;
  static Timer* other = nullptr;
  Timer one(nullptr, [](void*) {
    ++first;
    other->cancel();
  });
  Timer two(nullptr, [](void*) { ++second; });
  Timer again(nullptr, [](void*) {});
  other = &two;
  timers.set(one, 1);
  timers.set(two, 2);
  CHECK(timers.run(10, kTimersPerRound) == 1);
  CHECK(first == 1);
  CHECK(second == 0);
}

// Regression: connections that are to be closed at one instant were, all in one round.
TEST_CASE("of timers that are due together a round calls some, the earliest first, and the next round others") {
  Timers timers;
  static std::vector<int> called;
  called.clear();
  struct Owner {
    explicit Owner(int number) : number(number) {}
    int number;
    Timer timer{this, [](void* self) { called.push_back(static_cast<Owner*>(self)->number); }};
  };
  std::vector<std::unique_ptr<Owner>> owners;
  for (int i = 0; i < 10; ++i) owners.push_back(std::make_unique<Owner>(i));
  for (int i = 9; i >= 0; --i) timers.set(owners[static_cast<std::size_t>(i)]->timer, static_cast<std::uint64_t>(i));
  CHECK(timers.run(100, 4) == 4);
  CHECK(called == std::vector<int>{0, 1, 2, 3});
  CHECK(timers.nearest_ns() == 4);
  CHECK(timers.run(100, 4) == 4);
  CHECK(timers.run(100, 4) == 2);
  CHECK(called.size() == 10);
}

// A connection's line that notes what begins.
class TestLine final : public Line {
 public:
  bool reader_reads() const override { return reads; }
  void begin(Stream& stream) override { begun.push_back(&stream); }
  void nothing_small_waits() override { ++emptied; }

  bool reads = true;
  std::vector<Stream*> begun;
  int emptied = 0;
};

TEST_CASE("turns: whatever comes and ends, bounds hold, nothing is lost, and lines go round") {
  for (const std::uint64_t seed : testing::seeds(50)) {
    INFO("seed " << seed);
    Prng rng(seed);
    ServerBounds bounds;
    bounds.calls_taken_on = static_cast<int>(1 + rng.below(8));
    bounds.large_calls = static_cast<int>(1 + rng.below(3));
    Turns turns(bounds);
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<TestLine>> lines;
    for (int i = 0; i < 4; ++i) lines.push_back(std::make_unique<TestLine>());
    std::vector<std::pair<TestLine*, Stream*>> running, all;
    std::size_t begun = 0;
    const auto collect = [&] {
      for (auto& line : lines) {
        for (Stream* stream : line->begun) running.emplace_back(line.get(), stream);
        begun += line->begun.size();
        line->begun.clear();
      }
    };
    const auto check = [&] {
      std::size_t large = 0;
      for (const auto& [line, stream] : running) large += stream->large ? 1 : 0;
      CHECK(running.size() <= static_cast<std::size_t>(bounds.calls_taken_on));
      CHECK(large <= static_cast<std::size_t>(bounds.large_calls));
    };
    for (int step = 0; step < 300; ++step) {
      TestLine& line = *lines[rng.below(lines.size())];
      if (rng.chance(0.6)) {
        streams.push_back(std::make_unique<Stream>(std::size_t{100}));
        streams.back()->large = rng.chance(0.3);
        if (turns.admit(line, *streams.back(), 1)) line.begun.push_back(streams.back().get());
      } else if (!running.empty()) {
        const std::size_t which = rng.below(running.size());
        turns.over(*running[which].second, 1);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
      turns.run(0, 1);
      collect();
      check();
    }
    while (!running.empty()) {
      turns.over(*running.back().second, 1);
      running.pop_back();
      turns.run(0, 1);
      collect();
    }
    CHECK(begun == streams.size());
    CHECK_FALSE(turns.ready(0));
  }
}

TEST_CASE("turns: large calls wait while all output is too much, and that is pressure") {
  ServerBounds bounds;
  Turns turns(bounds);
  TestLine line;
  Stream large(100), small(100);
  large.large = true;
  CHECK_FALSE(turns.admit(line, large, 1));
  CHECK(turns.pressed(bounds.output_bytes_all + 1));
  CHECK_FALSE(turns.pressed(bounds.output_bytes_all));
  CHECK(turns.admit(line, small, 1));
  CHECK(turns.run(bounds.output_bytes_all + 1, 1) == 0);
  CHECK(turns.ready(0));
  CHECK(turns.run(0, 1) == 1);
  turns.over(large, 1);
  turns.over(small, 1);
}

TEST_CASE("turns: a line whose peer does not read begins nothing, and holds up no other line") {
  ServerBounds bounds;
  Turns turns(bounds);
  TestLine deaf, other;
  deaf.reads = false;
  Stream waiting(100), passing(100);
  CHECK_FALSE(turns.admit(deaf, waiting, 1));
  CHECK(turns.admit(other, passing, 1));
  CHECK(turns.run(0, 1) == 0);
  CHECK_FALSE(turns.ready(0));
  // Regression: it was told only once its call had begun, and so its window updates, which that waited for, were not read.
  CHECK(deaf.emptied == 1);
  deaf.reads = true;
  CHECK(turns.ready(0));
  CHECK(turns.run(0, 1) == 1);
  CHECK(deaf.emptied == 2);
  turns.over(waiting, 1);
  turns.over(passing, 1);
}

TEST_CASE("turns: a place outlives its connection, and is given back once") {
  ServerBounds bounds;
  bounds.large_calls = 1;
  Turns turns(bounds);
  auto gone = std::make_unique<TestLine>();
  TestLine other;
  Stream first(100), second(100);
  first.large = second.large = true;
  CHECK_FALSE(turns.admit(*gone, first, 1));  // what came with it is read first
  CHECK(turns.run(0, 1) == 1);
  Place place = std::move(first.place);
  turns.over(first, 1);
  gone.reset();
  CHECK_FALSE(turns.admit(other, second, 1));
  CHECK_FALSE(turns.ready(0));
  turns.leave(place, 1);
  turns.leave(place, 1);
  CHECK(turns.run(0, 1) == 1);
  CHECK_FALSE(turns.ready(0));
  Stream third(100);
  third.large = true;
  CHECK_FALSE(turns.admit(other, third, 1));
  turns.over(third, 1);
  turns.over(second, 1);
}

TEST_CASE("turns: calls whose answers may be long begin few at a time, until these are known to be short") {
  ServerBounds bounds;
  bounds.unknown_bytes = 4 * kAnswerBytesGuess;
  Turns turns(bounds);
  TestLine line, other;
  std::vector<std::unique_ptr<Stream>> streams;
  const auto ask = [&](TestLine& from, bool unknown = true) {
    streams.push_back(std::make_unique<Stream>(std::size_t{100}));
    streams.back()->unknown = unknown;
    return turns.admit(from, *streams.back(), 1);
  };
  for (int i = 0; i < 4; ++i) CHECK(ask(line));
  CHECK_FALSE(ask(line));
  CHECK_FALSE(turns.ready(0));
  CHECK(ask(other, false));
  CHECK(ask(other));
  CHECK_FALSE(line.answers_are_large());  // not known
  line.answered(10);
  CHECK(turns.run(0, 1) == 1);
  for (int i = 0; i < 10; ++i) line.answered(10);
  CHECK_FALSE(line.answers_are_large());
  for (int i = 5; i < 64; ++i) CHECK(ask(line));
  CHECK_FALSE(ask(line));
  line.answered(kSmallAnswerBytes + 1);
  CHECK(line.answers_are_large());
  for (const auto& stream : streams) turns.over(*stream, 1);
  line.answered(bounds.unknown_bytes + 1);
  CHECK(ask(line));  // one is never too long
  CHECK_FALSE(ask(line));
  for (const auto& stream : streams) turns.over(*stream, 1);
}

TEST_CASE("a header block is bounded, and can be used again") {
  RequestHead head;
  for (int round = 0; round < 3; ++round) {
    head.add(":method", "POST");
    head.add("content-type", "application/grpc+proto");
    head.add(":path", "/a.B/C");
    head.add("grpc-timeout", "1S");
    head.add("a", "1");
    head.add("b-bin", "AQ==");
    CHECK_FALSE(head.fault().has_value());
    CHECK(head.path() == "/a.B/C");
    CHECK(head.timeout_ns() == 1'000'000'000u);
    CHECK(head.all_metadata() == Metadata{{"a", "1"}, {"b-bin", "\1"}});
    head.add("b-bin", "Ag, Aw==,");  // a proxy has joined three
    const Metadata all{{"a", "1"}, {"b-bin", "\1"}, {"b-bin", "\2"}, {"b-bin", "\3"}, {"b-bin", ""}};
    CHECK(head.all_metadata() == all);
    CHECK_FALSE(head.fault().has_value());
    for (int i = 0; i < 1000; ++i) head.add("many", "x");
    REQUIRE(head.fault().has_value());
    CHECK(head.fault()->status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(head.all_metadata().size() < 300);
    head.clear();
    CHECK(head.fault().has_value());  // an empty block is no call
    CHECK(head.all_metadata().empty());
  }
}

// Regression: two thousand values of one long name were kept as four megabytes.
TEST_CASE("joined values of binary metadata count as if each had come alone") {
  RequestHead head;
  head.add(std::string(2'000, 'n') + "-bin", std::string(2'000, ','));
  REQUIRE(head.fault().has_value());
  CHECK(head.fault()->status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(head.kept_bytes() <= kMetadataBytesMax);
}

TEST_CASE("a turn is as long as its work allows") {
  constexpr std::uint64_t kTurnNs = kTurnUs * 1'000;
  Prng prng(testing::drawn_seed());
  for (int connection = 0; connection < 100; ++connection) {
    TurnSize size;
    CHECK(size.bytes() == kFirstTurnBytes);
    for (int kind = 0; kind < 5; ++kind) {
      const std::uint64_t ns_per_kib = std::uint64_t{1} << prng.below(20);  // up to a millisecond
      for (int turn = 0; turn < 10; ++turn) size.took(size.bytes(), size.bytes() * ns_per_kib / 1024);
      CHECK((size.bytes() * ns_per_kib / 1024 <= kTurnNs || size.bytes() == kTurnBytesMin));
      CHECK((4 * (size.bytes() + 1024) * ns_per_kib / 1024 >= kTurnNs || size.bytes() == kLoneTurnBytes));
      const std::size_t before = size.bytes();
      size.took(size.bytes() - 1, 0);  // there was no more to read
      CHECK(size.bytes() == before);
    }
  }
}

TEST_CASE("a session's memory is counted, and ends at its bound") {
  Holdings all{ServerBounds()};
  SessionMemory memory(10'000, all);
  nghttp2_mem* functions = memory.functions();
  void* one = functions->malloc(1000, functions->mem_user_data);
  void* two = functions->calloc(10, 100, functions->mem_user_data);
  CHECK(memory.bytes() >= 2000);
  CHECK(functions->malloc(9000, functions->mem_user_data) == nullptr);
  CHECK(functions->realloc(one, 9500, functions->mem_user_data) == nullptr);
  one = functions->realloc(one, 2000, functions->mem_user_data);
  REQUIRE(one != nullptr);
  functions->free(one, functions->mem_user_data);
  functions->free(two, functions->mem_user_data);
  CHECK(memory.bytes() == 0);
}

}  // namespace
}  // namespace ingot::rpc
