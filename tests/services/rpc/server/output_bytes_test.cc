// OutputBytes against one string.
#include "services/rpc/server/output_bytes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>

#include "core/prng.h"
#include "tests/seeds.h"

namespace ingot::rpc {
namespace {

// Mostly small, sometimes around the bound at which the front of a buffer is given up.
std::size_t draw_bytes(Prng& prng) {
  return prng.chance(0.1) ? kWriteBytes / 2 + prng.below(2 * kWriteBytes) : prng.below(40);
}

std::string draw_text(Prng& prng) {
  std::string text(draw_bytes(prng), '\0');
  for (char& letter : text) letter = static_cast<char>('a' + prng.below(26));
  return text;
}

void run(std::uint64_t seed) {
  CAPTURE(seed);
  Prng prng(seed);
  OutputBytes output;
  std::string model;
  for (int step = 0; step < 200; ++step) {
    std::string text = draw_text(prng);
    switch (prng.below(5)) {
      case 0:
        output.back() += text;
        model += text;
        break;
      case 1:
        model += text;
        output.append_piece(std::move(text));
        break;
      case 2: {
        std::string copied = "before";
        output.copy_front(copied, text.size());
        REQUIRE(copied == "before" + model.substr(0, text.size()));
        break;
      }
      case 3: {
        const std::size_t bytes = std::min(text.size(), model.size());
        output.take(bytes);
        model.erase(0, bytes);
        break;
      }
      default:
        if (prng.chance(0.9)) break;
        output.clear();
        model.clear();
    }
    REQUIRE(output.size() == model.size());
  }
  std::string rest;
  output.copy_front(rest, model.size() + 1);
  REQUIRE(rest == model);
}

TEST_CASE("bytes leave in the order in which they came, whether appended or taken over") {
  for (const std::uint64_t seed : ingot::testing::seeds(50)) run(seed);
}

}  // namespace
}  // namespace ingot::rpc
