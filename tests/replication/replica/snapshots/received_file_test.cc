// A file received in parts: its checksum, and its memory.
#include "replication/replica/snapshots/limits.h"
#include "replication/replica/snapshots/received_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <string_view>

#include "core/prng.h"
#include "core/stable_hash.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

TEST_CASE("a checksum is the same however the bytes are cut, and another one for other bytes") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng rng(seed);
  std::set<std::uint64_t> seen;
  for (std::size_t bytes = 0; bytes < 200; ++bytes) {
    const std::string whole(bytes, '\0');
    RunningHash at_once;
    at_once.add(whole);
    RunningHash in_parts;
    for (std::string_view left = whole; !left.empty();) {
      const std::size_t part = rng.below(40);  // some are empty
      in_parts.add(left.substr(0, part));
      left.remove_prefix(std::min(part, left.size()));
    }
    REQUIRE(in_parts.value() == at_once.value());
    REQUIRE(seen.insert(at_once.value()).second);
    for (std::size_t i = 0; i < bytes; ++i) {
      std::string other = whole;
      other[i] = 1;
      RunningHash hash;
      hash.add(other);
      REQUIRE(seen.insert(hash.value()).second);
    }
  }
}

TEST_CASE("a received file holds all that was added, far beyond its first capacity, whatever length was announced") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng rng(seed);
  for (const std::size_t promised : {std::size_t{0}, kSnapshotReserveBytes + 1, kSnapshotBytesMax}) {
    ReceivedFile file;
    std::string expected;
    while (expected.size() < kSnapshotReserveBytes + 8 * kSnapshotPartBytes) {
      const std::string part(rng.below(64 * kSnapshotPartBytes), static_cast<char>(rng()));
      expected += part;
      REQUIRE(file.append(part, promised));
    }
    const ReceivedFile moved = std::move(file);
    REQUIRE((moved.bytes() == expected));
  }
}

}  // namespace
}  // namespace ingot
