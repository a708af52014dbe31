// A hub of watches over one store, with what its tests ask of it.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/services/watch/hub_world.h"

namespace ingot::watch {

inline constexpr std::size_t kMiB = 1024 * 1024;

struct Fixture {
  Fixture() { world.client.faults = false; }

  void put(const std::string& key, std::size_t bytes = 1) {
    kv::PutRequest put;
    put.key = key, put.value = std::string(bytes, 'v');
    world.client.write(put);
  }
  std::unique_ptr<TestStream> stream(const char& connection, bool needs_leader = false) {
    return std::make_unique<TestStream>(world.hub, &connection, needs_leader);
  }
  // Creates a watch, and says how that was answered.
  pb::WatchResponse watch(TestStream& stream, const std::string& key, const std::string& range_end = "",
                          bool notify = false) {
    pb::WatchCreateRequest asked;
    asked.set_key(key), asked.set_range_end(range_end), asked.set_progress_notify(notify);
    stream.create(asked);
    REQUIRE(world.settle());
    const std::vector<pb::WatchResponse> came = stream.take();
    REQUIRE(came.size() == 1);
    CHECK(came[0].created());
    return came[0];
  }
  // So that watches from revision 1 on end at once.
  void compact_all() {
    put("k"), put("k");
    REQUIRE(world.settle());
    kv::CompactRequest compact;
    compact.revision = world.client.newest();
    world.client.write(compact);
    REQUIRE(world.settle());
  }
  // Says how the creation was answered; if the watch was there, a compaction has ended it.
  pb::WatchResponse ended_watch(TestStream& stream, std::int64_t id) {
    pb::WatchCreateRequest asked;
    asked.set_key("k"), asked.set_start_revision(1), asked.set_watch_id(id);
    stream.create(asked);
    REQUIRE(world.settle());
    const std::vector<pb::WatchResponse> came = stream.take();
    REQUIRE(!came.empty());
    CHECK(came[0].created());
    if (came[0].canceled()) return came[0];
    REQUIRE(came.size() == 2);
    CHECK((came[1].canceled() && came[1].watch_id() == id && came[1].compact_revision() > 1));
    return came[0];
  }
  std::vector<pb::WatchResponse> cancel(TestStream& stream, std::int64_t id) {
    pb::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(id);
    stream.ask(std::move(request));
    REQUIRE(world.settle());
    return stream.take();
  }
  // For so long; a round takes 10 ms.
  void run_ms(int ms) {
    for (int passed = 0; passed < ms; passed += 10) world.round(10'000);
  }

  World world{1};
  char a = 0, b = 0;  // connections
  char others[32] = {};
};

}  // namespace ingot::watch
