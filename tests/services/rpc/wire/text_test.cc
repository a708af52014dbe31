// Timeouts, percent-encoding and binary metadata as they are written on the wire.
#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "services/rpc/wire/binary_metadata.h"
#include "services/rpc/wire/percent.h"
#include "services/rpc/wire/timeout.h"

namespace ingot::rpc {
namespace {

TEST_CASE("timeouts have up to eight digits and a unit") {
  CHECK(parse_timeout("1n") == 1u);
  CHECK(parse_timeout("20u") == 20'000u);
  CHECK(parse_timeout("300m") == 300'000'000u);
  CHECK(parse_timeout("5S") == 5'000'000'000u);
  CHECK(parse_timeout("2M") == 120'000'000'000u);
  CHECK(parse_timeout("1H") == 3'600'000'000'000u);
  CHECK(parse_timeout("0S") == 0u);
  CHECK(parse_timeout("99999999H") == std::numeric_limits<std::uint64_t>::max());
  for (const char* bad : {"", "S", "5", "123456789n", "-1S", "1.5S", "5s", "5 S", "S5", "+5S"}) {
    INFO(bad);
    CHECK_FALSE(parse_timeout(bad).has_value());
  }
}

TEST_CASE("a timeout is written in the shortest unit that holds it, rounded up") {
  CHECK(format_timeout(0) == "0n");
  CHECK(format_timeout(99'999'999) == "99999999n");
  CHECK(format_timeout(100'000'000) == "100000u");
  CHECK(format_timeout(100'000'001) == "100001u");
  CHECK(format_timeout(5'000'000'000) == "5000000u");
  CHECK(parse_timeout(format_timeout(123'456'789'012'345)).value() >= 123'456'789'012'345u);
}

TEST_CASE("percent-encoding keeps printable ASCII and gives back any bytes") {
  CHECK(percent_encode("etcdserver: request is too large") == "etcdserver: request is too large");
  CHECK(percent_encode("100%\n") == "100%25%0A");
  CHECK(percent_encode("\xc3\xbc") == "%C3%BC");
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  CHECK(percent_decode(percent_encode(all)) == all);
  CHECK(percent_decode("%e4%XX%2") == "\xe4%XX%2");
}

TEST_CASE("binary metadata is base64 without padding, and read with and without") {
  CHECK(is_binary_metadata("trace-bin"));
  CHECK_FALSE(is_binary_metadata("bin-trace"));
  CHECK(encode_binary_metadata("a") == "YQ");
  CHECK(decode_binary_metadata("YQ") == "a");
  CHECK(decode_binary_metadata("YQ==") == "a");
  CHECK(decode_binary_metadata(encode_binary_metadata(std::string("\0\xff\x7f", 3))) == std::string("\0\xff\x7f", 3));
  CHECK_FALSE(decode_binary_metadata("!").has_value());
}

}  // namespace
}  // namespace ingot::rpc
