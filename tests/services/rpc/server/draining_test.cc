// How a server leaves its clients.
#include <catch2/catch.hpp>
#include <string>

#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

TEST_CASE("draining tells clients in two steps, refuses new calls and waits for open ones") {
  Harness harness;
  auto client = harness.client();
  const auto open = client->call("/t.T/Hold", framed(""));
  harness.run(*client);
  harness.server().drain();
  CHECK_FALSE(harness.server().drained());
  const auto late = client->call("/t.T/Echo", framed("late"));
  harness.run(*client);
  REQUIRE(client->goaways().size() == 2);
  CHECK(client->goaway_streams[0] == 0x7fffffff);
  CHECK(client->goaway_streams[1] < 0x7fffffff);
  CHECK(client->answer(late).closed);
  CHECK(client->answer(late).reset == NGHTTP2_REFUSED_STREAM);
  CHECK(harness.echoed.empty());
  harness.held[0].send_bytes("done");
  harness.held[0].finish(grpc::Status::OK);
  harness.run(*client);
  CHECK(client->answer(open).status() == 0);
  CHECK(harness.server().drained());
  CHECK(client->lost());
  harness.pass_ms(kLingerMs + 1);
  CHECK(harness.server().connections() == 0);
}

TEST_CASE("a call that waits for its turn while the server drains is carried out, too") {
  ServerBounds bounds;
  bounds.calls_taken_on = 1;
  Harness harness(bounds);
  auto client = harness.client();
  client->call("/t.T/Hold", framed("first"));
  const auto second = client->call("/t.T/Hold", framed("second"));
  harness.run(*client);
  REQUIRE(harness.held.size() == 1);
  harness.server().drain();
  harness.run(*client);
  harness.held[0].finish(grpc::Status::OK);
  harness.server().flush();  // all that has begun is over now
  CHECK_FALSE(harness.server().drained());
  harness.run(*client);
  REQUIRE(harness.held.size() == 2);
  harness.held[1].finish(grpc::Status::OK);
  harness.run(*client);
  CHECK(client->answer(second).status() == 0);
  CHECK(harness.server().drained());
}

// Regression: one watch whose client took nothing made each stop of an instance take five seconds.
TEST_CASE("draining waits for those that take, and not for those that do not") {
  Harness harness;
  harness.methods.add("/t.T/Big", {.unary = [](Call call, std::string_view) {
                        call.send_bytes(std::string(200'000, 'x'));
                        call.finish(grpc::Status::OK);
                      }});
  auto taking = std::make_unique<RawClient>(harness.connect(), RawClient::Options{.auto_window = false});
  const auto answer = taking->call("/t.T/Big", framed(""));
  const RawClient::Options no_window{.auto_window = false, .stream_window = 0};
  auto silent = std::make_unique<RawClient>(harness.connect(), no_window);
  harness.run_all(*taking, *silent);
  auto deaf = harness.client();  // whose socket is full
  harness.run(*deaf);
  deaf->read_nothing(true);
  for (int i = 0; i < 10; ++i) deaf->call("/t.T/Echo", framed(std::string(60'000, 'x')));
  for (int i = 0; i < 20; ++i) silent->call("/t.T/Big", framed(""));  // some wait for the others to be read
  harness.run_all(*taking, *silent, *deaf);
  harness.server().drain();
  harness.rounds();
  CHECK_FALSE(harness.server().drained());
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(harness.server().drained());
    harness.pass_ms(kStalledEndMs - 1);
    REQUIRE(nghttp2_session_consume(taking->h2(), answer, 33'000) == 0);  // about half a window: then it is given back
    harness.run_all(*taking);
  }
  CHECK(taking->answer(answer).status() == 0);
  CHECK(taking->answer(answer).body.size() == 200'005);
  CHECK(harness.server().drained());
}

TEST_CASE("a draining server waits no longer than for a moment if all its clients take nothing") {
  Harness harness;
  auto client = std::make_unique<RawClient>(harness.connect(),
                                            RawClient::Options{.auto_window = false, .stream_window = 0});
  harness.run(*client);
  client->call("/t.T/Echo", framed("x"));
  harness.run(*client);
  harness.pass_ms(kStalledWriteMs / 2);
  harness.server().drain();
  harness.rounds();
  CHECK_FALSE(harness.server().drained());
  harness.pass_ms(kStalledEndMs + 1);
  harness.pass_ms(kStalledEndMs / 10 + 1);  // the second look
  CHECK(harness.server().drained());
  CHECK(harness.server().held_bytes() == 0);
}

// Regression: a loop that had no processor for so long ended a connection whose window update it had yet to read.
TEST_CASE("a draining server that stood still reads what its clients have sent before it ends them") {
  Harness harness;
  auto client = std::make_unique<RawClient>(harness.connect(),
                                            RawClient::Options{.auto_window = false, .stream_window = 0});
  harness.run(*client);
  const auto id = client->call("/t.T/Echo", framed("x"));
  harness.run(*client);
  harness.server().drain();
  harness.rounds();
  REQUIRE(nghttp2_submit_window_update(client->h2(), NGHTTP2_FLAG_NONE, id, 1'000) == 0);
  client->exchange();  // the server has not read it
  harness.pass_ms(kStalledEndMs + 1);
  harness.run(*client);
  CHECK(client->answer(id).status() == 0);
}

TEST_CASE("a client that does not answer the first GOAWAY gets the second one after a while") {
  Harness harness;
  const Descriptor client = harness.connect();
  write_all(client, std::string(kClientPreface) + settings_frame());
  harness.rounds();
  harness.server().drain();
  harness.rounds();
  read_all(client);
  harness.pass_ms(kDrainNoticeMs + 1);
  CHECK(goaway_in(read_all(client)).first == NGHTTP2_NO_ERROR);
}

}  // namespace
}  // namespace ingot::rpc
