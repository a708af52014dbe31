// What a connection without calls costs in memory, and what calls leave.
#include <malloc.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/rpc/server/stream.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

constexpr std::size_t kIdleBytesMax = 20 * 1024;
constexpr int kConnections = 400;

std::size_t resident_bytes() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("an idle connection that has made a call costs at most 20 KiB") {
  Harness harness;
  std::vector<Descriptor> idle;
  const auto connect = [&] {
    idle.push_back(harness.connect());
    const std::string call =
        frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, header_block(RawClient::grpc_headers("/t.T/Echo"))) +
        frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, framed("hello"));
    write_all(idle.back(), std::string(kClientPreface) + settings_frame() + call);
    harness.rounds();
    REQUIRE(read_all(idle.back()).find("hello") != std::string::npos);
  };
  for (int i = 0; i < 10; ++i) connect();
  harness.echoed.clear();
  const std::size_t before = resident_bytes();
  for (int i = 0; i < kConnections; ++i) connect();
  const std::size_t each = (resident_bytes() - before) / kConnections;
  CAPTURE(each);
  CHECK(each <= kIdleBytesMax);
  idle.clear();
  for (int i = 0; i < 8; ++i) harness.rounds();
  CHECK(harness.server().connections() == 0);
}

// Regression: streams are used again, and each kept the buffer of the largest answer that it had ever had.
TEST_CASE("a stream that is cleared keeps no large buffer") {
  constexpr std::size_t kLarge = 1'000'000;
  constexpr int kStreams = 50;
  const auto used = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(std::make_unique<Stream>(2 * kLarge));
  const std::size_t before = used();
  for (const auto& stream : streams) {
    stream->output.back().assign(kLarge, 'x');
    stream->request.assign(kLarge, 'x');
    stream->initial_metadata.assign(kLarge, 'x');
    stream->status_details.assign(kLarge, 'x');
    const std::string message = framed(std::string(kLarge, 'x'));
    std::string_view part = std::string_view(message).substr(0, kLarge / 2);
    CHECK(stream->reader.read(part) == MessageReader::Result::kMore);
  }
  CHECK(used() > before + 4 * kStreams * kLarge);
  for (const auto& stream : streams) stream->clear();
  CHECK(used() < before + kStreams * 10 * kKeptCapacityBytes);
}

}  // namespace
}  // namespace ingot::rpc
