// Reassembly of lines to messages, for any sequence of lines, including those that no sender writes.
#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "core/limits.h"
#include "core/prng.h"
#include "transport/fragments.h"

using namespace ingot;

namespace {

LineHeader line(bool first, bool last) { return {EndpointId(3), first, last, 60}; }

}  // namespace

TEST_CASE("a line header survives its encoding") {
  Prng prng(1);
  for (int i = 0; i < 10'000; ++i) {
    const LineHeader header{EndpointId(static_cast<std::uint16_t>(prng())), prng.chance(0.5), prng.chance(0.5),
                            static_cast<std::uint8_t>(prng()), prng.chance(0.5)};
    const LineHeader back = LineHeader::decode(header.encode());
    CHECK(back.sender == header.sender);
    CHECK(back.first == header.first);
    CHECK(back.last == header.last);
    CHECK(back.bytes == header.bytes);
    CHECK(back.bulk == header.bulk);
  }
}

TEST_CASE("reassembly agrees with a model on any sequence of lines") {
  Prng prng(2);
  Reassembly reassembly;
  std::vector<std::byte> model;
  bool open = false;
  for (int i = 0; i < 20'000; ++i) {
    const LineHeader header = line(prng.chance(0.3), prng.chance(0.3));
    const std::vector<std::byte> payload(1 + prng.below(60), std::byte(i));
    if (header.first) {
      model.clear();
      open = true;
    }
    if (open) model.insert(model.end(), payload.begin(), payload.end());
    std::span<const std::byte> message;
    const bool complete = reassembly.add(header, payload, message);
    REQUIRE(complete == (open && header.last));
    if (complete) REQUIRE(std::ranges::equal(message, model));
    if (header.last) open = false;
  }
}

TEST_CASE("reassembly is bounded: a message beyond the limit is dropped, the next one arrives") {
  Reassembly reassembly;
  std::span<const std::byte> message;
  const std::vector<std::byte> payload(1000);
  CHECK_FALSE(reassembly.add(line(true, false), payload, message));
  for (std::size_t bytes = 1000; bytes + 1000 <= kMessageBytesMax; bytes += 1000) {
    REQUIRE_FALSE(reassembly.add(line(false, false), payload, message));
  }
  CHECK_FALSE(reassembly.add(line(false, false), payload, message));
  CHECK_FALSE(reassembly.add(line(false, true), payload, message));
  CHECK(reassembly.add(line(true, true), payload, message));
  CHECK(message.size() == 1000);
}

TEST_CASE("a staged message leaves in pieces") {
  StagedMessage staged;
  CHECK(staged.empty());
  const std::vector<std::byte> bytes(200'000, std::byte{5});
  staged.stage(bytes);
  std::size_t left = 0;
  while (!staged.empty()) {
    CHECK(staged.rest().size() == bytes.size() - left);
    left += 1000;
    staged.advance(1000);
  }
  CHECK(left == bytes.size());
}
