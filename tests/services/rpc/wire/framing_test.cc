// Messages are found in a stream of bytes, however it is cut.
#include "services/rpc/wire/framing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/seeds.h"

namespace ingot::rpc {
namespace {

using Result = MessageReader::Result;

std::string framed(const std::string& message, bool compressed = false) {
  const Prefix prefix = message_prefix(message.size(), compressed);
  return std::string(prefix.begin(), prefix.end()) + message;
}

TEST_CASE("a prefix is a flag and a big-endian length") {
  CHECK(framed("") == std::string("\0\0\0\0\0", 5));
  const Prefix prefix = message_prefix(0x01020304, true);
  CHECK(std::string(prefix.begin(), prefix.end()) == "\1\1\2\3\4");
}

TEST_CASE("a message that lies whole in the bytes given is not copied") {
  const std::string bytes = framed("hello") + framed("", true);
  std::string_view left = bytes;
  MessageReader reader(100);
  REQUIRE(reader.read(left) == Result::kMessage);
  CHECK(reader.message() == "hello");
  CHECK(reader.message().data() == bytes.data() + kPrefixBytes);
  CHECK_FALSE(reader.compressed());
  REQUIRE(reader.read(left) == Result::kMessage);
  CHECK(reader.message().empty());
  CHECK(reader.compressed());
  CHECK(reader.read(left) == Result::kMore);
  CHECK(reader.between_messages());
  CHECK(reader.kept_bytes() == 0);
}

TEST_CASE("messages are the same however the stream is cut") {
  for (const std::uint64_t seed : testing::seeds(200)) {
    INFO("seed " << seed);
    Prng rng(seed);
    std::vector<std::string> sent, received;
    std::string bytes;
    for (std::uint64_t n = rng.below(8); n > 0; --n) {
      sent.emplace_back(rng.below(300), static_cast<char>('a' + rng.below(26)));
      bytes += framed(sent.back());
    }
    MessageReader reader(300);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(1 + rng.below(100), bytes.size() - at);
      const std::string chunk = bytes.substr(at, size);  // a copy, so that ASan sees a view that outlives its bytes
      std::string_view left = chunk;
      while (reader.read(left) == Result::kMessage) received.emplace_back(reader.message());
      REQUIRE(left.empty());
      at += size;
    }
    CHECK(received == sent);
    CHECK(reader.between_messages());
  }
}

TEST_CASE("a message above the bound is refused by its prefix, before any byte of it is kept") {
  MessageReader reader(10);
  const std::string bytes = framed(std::string(11, 'x'));
  std::string_view left = bytes;
  CHECK(reader.read(left) == Result::kTooLarge);
  CHECK(reader.announced_bytes() == 11);
  CHECK(reader.kept_bytes() == 0);
  MessageReader exact(11);
  left = bytes;
  CHECK(exact.read(left) == Result::kMessage);
}

TEST_CASE("a flag other than 0 and 1 is malformed") {
  MessageReader reader(10);
  std::string_view left("\2\0\0\0\1x", 6);
  CHECK(reader.read(left) == Result::kMalformed);
}

TEST_CASE("a message that has begun shows at the stream's end, and a reader can begin anew") {
  MessageReader reader(10);
  std::string_view left("\0\0\0\0\3ab", 7);
  CHECK(reader.read(left) == Result::kMore);
  CHECK_FALSE(reader.between_messages());
  CHECK(reader.kept_bytes() == 2);
  reader.reset(10, 1024);
  CHECK(reader.between_messages());
  CHECK(reader.kept_bytes() == 0);
  left = std::string_view("\0\0\0\0\1z", 6);
  REQUIRE(reader.read(left) == Result::kMessage);
  CHECK(reader.message() == "z");
}

}  // namespace
}  // namespace ingot::rpc
