// A value identifies its write, and no damaged or misplaced value is accepted.
#include "services/ingot_load/stamped_value.h"


#include <catch2/catch.hpp>

#include "core/prng.h"
#include "tests/seeds.h"

namespace ingot::load {
namespace {

const Stamp kStamp{0xdeadbeef, {77, 0x123456789abc}};

std::string value_of(const Stamp& stamp, std::string_view key, std::size_t size) {
  std::string value = "what was there before";
  make_value(stamp, key, size, value);
  return value;
}

TEST_CASE("a value has the wanted size and gives its stamp back") {
  for (const std::size_t more : {0, 1, 20, 4053, 100000}) {
    const std::size_t size = kStampBytes + more;
    const std::string value = value_of(kStamp, "some key", size);
    CHECK(value.size() == size);
    CHECK(read_stamp("some key", value) == kStamp);
  }
}

TEST_CASE("a value too small for its stamp has its size and cannot be checked") {
  for (std::size_t size = 0; size < kStampBytes; ++size) {
    const std::string value = value_of(kStamp, "k", size);
    CHECK(value.size() == size);
    CHECK_FALSE(read_stamp("k", value));
  }
}

TEST_CASE("a value under another key is refused") {
  const std::string value = value_of(kStamp, "key 1", 64);
  CHECK_FALSE(read_stamp("key 2", value));
  CHECK_FALSE(read_stamp("", value));
}

TEST_CASE("every flipped bit is noticed") {
  const std::string value = value_of(kStamp, "key", 90);
  for (std::size_t at = 0; at < value.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = value;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      INFO("byte " << at << " bit " << bit);
      const auto stamp = read_stamp("key", damaged);
      // The dots between the fields hold no information, but the checksum covers them, too.
      CHECK_FALSE(stamp);
    }
  }
}

TEST_CASE("cut, lengthened and pieced-together values are refused") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  const std::string one = value_of({1, {1, 1}}, "key", 300);
  const std::string two = value_of({1, {1, 2}}, "key", 300);
  CHECK_FALSE(read_stamp("key", one + "x"));
  for (int i = 0; i < 200; ++i) {
    const std::size_t cut = prng.below(one.size());
    INFO("cut at " << cut);
    CHECK_FALSE(read_stamp("key", one.substr(0, cut)));
    const std::string pieced = one.substr(0, cut) + two.substr(cut);
    if (pieced != one && pieced != two) CHECK_FALSE(read_stamp("key", pieced));
  }
}

TEST_CASE("text that make_value did not write is refused") {
  CHECK_FALSE(read_stamp("key", ""));
  CHECK_FALSE(read_stamp("key", std::string(64, 'x')));
  CHECK_FALSE(read_stamp("key", std::string(64, '0')));
}

}  // namespace
}  // namespace ingot::load
