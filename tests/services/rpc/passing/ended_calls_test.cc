// What calls leave in memory that were passed on and have ended.
#include <malloc.h>

#include <cstddef>
#include <string>

#include "tests/services/rpc/passing/passing_fixture.h"

namespace ingot::rpc {
namespace {

constexpr int kCalls = 400;
constexpr std::size_t kLeftBytesMax = 2 * 1024;  // of each call

std::size_t used_bytes() { return ::mallinfo2().uordblks; }

// The server's end and the client's half-close cross.
void call_that_fails(PassingServer& server, const std::shared_ptr<grpc::Channel>& channel) {
  {
    TestCall call(channel, "Fail");
    call.writes_done();
    std::string none;
    CHECK_FALSE(call.read(none));
    CHECK(call.finish().error_code() == grpc::StatusCode::DATA_LOSS);
  }
  wait_until([&] { return server.budget.open() == 0; });
}

// gRPC's transport inside a process frees a call of the client only if the half-close came before the server's end or
// the call was cancelled: each other call, as most unary ones, left 25 KiB for ever.
TEST_CASE("calls that the inner server ends leave no memory behind") {
  PassingServer server;
  const auto channel = server.connect();
  for (int i = 0; i < kCalls / 4; ++i) call_that_fails(server, channel);
  const std::size_t before = used_bytes();
  for (int i = 0; i < kCalls; ++i) call_that_fails(server, channel);
  const std::size_t after = used_bytes();
  INFO("in use " << before << " bytes before " << kCalls << " calls, " << after << " after them");
  CHECK(after < before + kCalls * kLeftBytesMax);
}

}  // namespace
}  // namespace ingot::rpc
