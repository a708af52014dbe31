// What a connection without calls costs in resident memory.
#include <malloc.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <vector>

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
    const std::string call = frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1,
                                   header_block(RawClient::grpc_headers("/t.T/Echo"))) +
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

}  // namespace
}  // namespace ingot::rpc
