// Which peers take what waits for them.
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "services/rpc/server/limits.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

// Regression: only bytes of messages counted as taken, so that a peer whose calls were all refused was ended while it
// read their trailers.
TEST_CASE("a peer that takes trailers takes something") {
  constexpr std::uint32_t kCalls = 1'400;
  Harness harness;
  const Descriptor slow = harness.connect();
  std::string frames = std::string(kClientPreface) + settings_frame();
  const std::string block = header_block(RawClient::grpc_headers("/t.T/" + std::string(4'000, 'u')));
  for (std::uint32_t call = 0; call < kCalls; ++call) {
    frames += frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 2 * call + 1, block);
  }
  while (!frames.empty()) {
    frames.erase(0, write_all(slow, frames));
    harness.rounds();
  }
  // The kernel says that a pair's end may be written once it is nearly empty: each period has to see that.
  std::vector<char> buffer(80'000);
  constexpr std::uint64_t kReads = 40, kReadsEachPeriod = 5;
  std::size_t taken = 0;
  for (std::uint64_t i = 0; i < kReads; ++i) {
    const ssize_t bytes = ::recv(slow.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    taken += static_cast<std::size_t>(std::max<ssize_t>(0, bytes));
    harness.pass_ms(kStalledWriteMs / kReadsEachPeriod);
  }
  CHECK(taken > 8 * kWriteBytes);
  CHECK(harness.counters.ended_stalled.get() == 0);
  CHECK(harness.server().connections() == 1);
}

}  // namespace
}  // namespace ingot::rpc
