// What the connections of a hub may have of its watches and streams.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tests/services/watch/hub_fixture.h"

namespace ingot::watch {
namespace {

TEST_CASE("a connection's watches have at most as many bytes as are still free") {
  Fixture f;
  const auto first = f.stream(f.a), second = f.stream(f.b);
  const auto created = [&](TestStream& stream) {
    std::size_t watches = 0;
    while (!f.watch(stream, std::string(kMiB, 'k') + std::to_string(watches)).canceled()) ++watches;
    return watches;
  };
  CHECK(created(*first) == kWatchKeyBytesMax / kMiB / 2);
  CHECK(created(*second) == kWatchKeyBytesMax / kMiB / 4);
  CHECK(f.world.counters.refused.get() == 2);
}

// As many watches of one key as it may have.
std::size_t fill(Fixture& f, TestStream& stream, std::string& refusal) {
  pb::WatchCreateRequest asked;
  asked.set_key("k");
  std::size_t created = 0;
  for (refusal.clear(); refusal.empty();) {
    for (int i = 0; i < 4096; ++i) stream.create(asked);
    REQUIRE(f.world.settle());
    for (const pb::WatchResponse& response : stream.take()) {
      if (response.canceled()) {
        refusal = response.cancel_reason();
      } else {
        ++created;
      }
    }
  }
  return created;
}

TEST_CASE("seventeen connections do not take all watches, and a newcomer is told who has the most") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> greedy;
  std::string refusal;
  for (int i = 0; i < 17; ++i) {
    const std::string peer = "10.0.0." + std::to_string(i) + ":4711";
    greedy.push_back(std::make_unique<TestStream>(f.world.hub, &f.others[i], false, peer));
    CHECK(fill(f, *greedy.back(), refusal) >= kWatchesOwn);
    if (i > 0) continue;
    CHECK(refusal ==
          "etcdserver: too many watches: 32768 of 65536 are taken, the most (32768) by this connection; watch a range "
          "of keys instead");
  }
  CHECK(f.world.counters.watches.get() >= kWatchesMax);
  const auto newcomer = f.stream(f.a);
  CHECK(fill(f, *newcomer, refusal) == kWatchesOwn);
  CHECK(refusal == "etcdserver: too many watches: " + std::to_string(f.world.counters.watches.get()) +
                       " of 65536 are taken, the most (32768) by 10.0.0.0:4711, one of 18 connections; this one has 8 "
                       "and may have 8; watch a range of keys instead");
  const std::string key(kWatchKeyBytesOwn, 'k');
  const auto another = f.stream(f.b);
  CHECK_FALSE(f.watch(*another, key).canceled());
}

TEST_CASE("a connection has at most as many streams as are still free") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> streams;
  while (streams.empty() || streams.back()->opened().ok()) streams.push_back(f.stream(f.a));
  CHECK(streams.size() - 1 == kWatchStreamsMax / 2);
  CHECK(streams.back()->opened().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(f.stream(f.b)->opened().ok());
}

TEST_CASE("other connections do not take all watch streams, and a newcomer is told who has the most") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> streams;
  const auto opened = [&](const char& connection) {
    for (std::size_t open = 0;; ++open) {
      streams.push_back(f.stream(connection));
      if (!streams.back()->opened().ok()) return open;
    }
  };
  for (const char& other : f.others) CHECK(opened(other) >= kWatchStreamsOwn);
  CHECK(f.world.counters.streams.get() >= kWatchStreamsMax);
  CHECK(opened(f.a) == kWatchStreamsOwn);
  CHECK(streams.back()->opened().error_message() ==
        "too many watch streams, and calls that wait for locks: " + std::to_string(f.world.counters.streams.get()) +
            " of 16384 are taken, the most (8192) by somebody, one of 33 connections; this one has 1 and may have 1; "
            "use one stream for several watches");
}

}  // namespace
}  // namespace ingot::watch
