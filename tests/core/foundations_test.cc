// The header-only foundations: distinct id types, bounds checks of the wire format, reproducible randomness.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/counters.h"
#include "core/prng.h"
#include "core/types.h"
#include "core/wire.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

static_assert(!std::is_convertible_v<Slot, Epoch> && !std::is_convertible_v<std::uint64_t, Slot>);
static_assert(!std::is_constructible_v<Ballot, Epoch>);

TEST_CASE("written fields are read back in order") {
  WireWriter writer;
  writer.u8(0xab).u16(0xcdef).u32(0x01234567).u64(0x89abcdef01234567).i64(-5).bytes("text").bytes("").raw("rest");
  CHECK(writer.view().substr(0, 3) == std::string("\xab\xef\xcd"));  // little-endian
  WireReader reader{std::string_view(writer.view())};
  CHECK(reader.u8() == 0xab);
  CHECK(reader.u16() == 0xcdef);
  CHECK(reader.u32() == 0x01234567);
  CHECK(reader.u64() == 0x89abcdef01234567);
  CHECK(reader.i64() == -5);
  CHECK(reader.bytes() == "text");
  CHECK(reader.bytes().empty());
  CHECK_FALSE(reader.ok());  // some bytes are left
  CHECK(reader.rest() == "rest");
  CHECK(reader.ok());
}

TEST_CASE("every cut of a message fails, gives zeros from there on, and stays failed") {
  WireWriter writer;
  writer.u8(1).u32(2).bytes("some text").u64(3);
  const std::string whole = writer.take();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size << " bytes");
    WireReader reader{std::string_view(whole).substr(0, size)};
    reader.u8();
    reader.u32();
    reader.bytes();
    CHECK(reader.u64() == 0);
    CHECK(reader.failed());
    CHECK_FALSE(reader.ok());
    CHECK(reader.u8() == 0);
    CHECK(reader.rest().empty());
    CHECK_FALSE(reader.ok());
  }
}

TEST_CASE("a length beyond the message is refused") {
  WireWriter writer;
  writer.u32(0xffff'ffff).raw("short");
  WireReader reader{std::string_view(writer.view())};
  CHECK(reader.bytes().empty());
  CHECK(reader.failed());
}

TEST_CASE("a seed gives one sequence, another seed another") {
  Prng a(42), b(42), c(43);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = a();
    REQUIRE(value == b());
    equal += value == c() ? 1 : 0;
  }
  CHECK(equal < 3);
}

TEST_CASE("bounded draws stay in bounds and reach every value about equally often") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  int count[7] = {};
  for (int i = 0; i < 70'000; ++i) ++count[prng.below(7)];
  for (const int n : count) CHECK((n > 9'000 && n < 11'000));  // ten standard deviations
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(prng.below(1) == 0);
    const double unit = prng.unit();
    REQUIRE((unit >= 0 && unit < 1));
  }
  CHECK_FALSE(prng.chance(0));
  CHECK(prng.chance(1));
}

TEST_CASE("a counter's name tells its kind and its unit") {
  const auto named = [](const char* name, CounterKind kind, CounterUnit unit) {
    return well_named({name, kind, unit, ""});
  };
  CHECK(named("applied_slots_total", CounterKind::kCounter, CounterUnit::kSlots));
  CHECK(named("busy_seconds_total", CounterKind::kCounter, CounterUnit::kNanoseconds));
  CHECK(named("backlog_bytes", CounterKind::kGauge, CounterUnit::kBytes));
  CHECK(named("loop_polls_total", CounterKind::kCounter, CounterUnit::kEvents));
  CHECK_FALSE(named("applied_slots", CounterKind::kCounter, CounterUnit::kSlots));
  CHECK_FALSE(named("backlog_bytes_total", CounterKind::kGauge, CounterUnit::kBytes));
  CHECK_FALSE(named("busy_total", CounterKind::kCounter, CounterUnit::kNanoseconds));
  CHECK_FALSE(named("busy_seconds_total", CounterKind::kCounter, CounterUnit::kEvents));
  CHECK_FALSE(named("sent_bytes_total", CounterKind::kCounter, CounterUnit::kMessages));
  CHECK(metric_scale(CounterUnit::kNanoseconds) == 1e-9);
  CHECK(metric_scale(CounterUnit::kBytes) == 1);
}

TEST_CASE("a counter that is raised does not fall") {
  Counter counter;
  for (const std::uint64_t to : {5u, 3u, 5u, 6u}) counter.raise(to);
  CHECK(counter.get() == 6);
  counter.raise(1);
  CHECK(counter.get() == 6);
}

TEST_CASE("counters count, and ids order and step") {
  Counter counter;
  counter.add(2);
  counter.add(3);
  CHECK(counter.get() == 5);
  counter.set_release(7);
  CHECK(counter.get_acquire() == 7);
  CHECK(Slot(3).next() == Slot(4));
  CHECK(Slot(3).plus(4) > Slot(6));
}

}  // namespace
}  // namespace ingot
