// Compressed messages are read, and a small one cannot become a large one.
#include "services/rpc/wire/compression.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <string>

#include "core/prng.h"
#include "tests/seeds.h"

namespace ingot::rpc {
namespace {

std::string zlib_message(const std::string& message) {
  std::string compressed(compressBound(message.size()), '\0');
  uLongf size = compressed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(compressed.data()), &size, reinterpret_cast<const Bytef*>(message.data()),
                   message.size()) == Z_OK);
  compressed.resize(size);
  return compressed;
}

TEST_CASE("encodings are known by name") {
  CHECK(encoding_of("") == Encoding::kIdentity);
  CHECK(encoding_of("identity") == Encoding::kIdentity);
  CHECK(encoding_of("gzip") == Encoding::kCompressed);
  CHECK(encoding_of("deflate") == Encoding::kCompressed);
  CHECK(encoding_of("snappy") == Encoding::kUnknown);
}

TEST_CASE("gzip and zlib messages of any size are inflated") {
  const std::size_t bytes = GENERATE(0, 1, 1000, 16 * 1024, 16 * 1024 + 1, 300'000);
  Prng rng(testing::drawn_seed());
  std::string message;
  for (std::size_t i = 0; i < bytes; ++i) message.push_back(static_cast<char>(rng.below(7)));
  CHECK(inflate_message(gzip_message(message), bytes).value() == message);
  CHECK(inflate_message(zlib_message(message), bytes + 5).value() == message);
}

TEST_CASE("a message that would become too large is refused at the bound") {
  const std::string bomb = gzip_message(std::string(std::size_t{64} << 20, '\0'));
  CHECK(bomb.size() < 100'000);
  CHECK(inflate_message(bomb, 1 << 20).status().code() == absl::StatusCode::kResourceExhausted);
  const std::string one_more = gzip_message(std::string(1001, 'x'));
  CHECK(inflate_message(one_more, 1000).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(inflate_message(one_more, 1001).ok());
}

TEST_CASE("what is not compressed, is cut off or has something behind it is an error") {
  const std::string good = gzip_message("some message of some length");
  for (const std::string& bad : {std::string(), std::string("no gzip at all"), good.substr(0, good.size() - 1),
                                 good.substr(0, 5), good + "x"}) {
    CHECK(inflate_message(bad, 1000).status().code() == absl::StatusCode::kInternal);
  }
}

}  // namespace
}  // namespace ingot::rpc
