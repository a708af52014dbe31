// What a hub does at its bounds, and without a leader.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tests/services/watch/hub_world.h"

namespace ingot::watch {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

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

std::size_t events_of(TestStream& stream) {
  std::size_t events = 0;
  for (const pb::WatchResponse& response : stream.take()) {
    CHECK_FALSE(response.canceled());
    events += static_cast<std::size_t>(response.events_size());
  }
  return events;
}

TEST_CASE("one revision may have more events for all watches than are given out at once") {
  Fixture f;
  constexpr std::size_t kKeys = 1100;
  constexpr std::size_t kWatches = kPairsMax / kKeys + 2;
  for (std::size_t i = 0; i < kKeys; ++i) f.put("k" + std::to_string(i));
  std::vector<std::unique_ptr<TestStream>> streams;
  for (std::size_t i = 0; i < kWatches; ++i) {
    streams.push_back(f.stream(f.a));
    CHECK_FALSE(f.watch(*streams.back(), "k", "l").canceled());
  }
  kv::DeleteRangeRequest all;
  all.key = "k", all.range_end = "l";
  f.world.client.write(all);
  REQUIRE(f.world.settle());
  for (auto& stream : streams) {
    const std::vector<pb::WatchResponse> came = stream->take();
    REQUIRE(came.size() == 1);
    CHECK(came[0].events_size() == kKeys);
  }
}

TEST_CASE("a watch of which one revision has more than a response may hold is canceled with a sentence") {
  Fixture f;
  const auto wide = f.stream(f.a), narrow = f.stream(f.a);
  f.watch(*wide, "k", "l");
  f.watch(*narrow, "k1");
  kv::TxnRequest txn;
  for (std::size_t i = 0; i < kResponseBytesMax / kMiB + 1; ++i) {
    kv::PutRequest put;
    put.key = "k" + std::to_string(i), put.value = std::string(kMiB, 'v');
    txn.success.emplace_back(put);
  }
  f.world.client.write(txn);
  REQUIRE(f.world.settle());
  const std::vector<pb::WatchResponse> came = wide->take();
  REQUIRE(came.size() == 1);
  CHECK(came[0].canceled());
  CHECK(came[0].cancel_reason() == "one revision has more than 64 MiB of events for this watch; watch smaller ranges");
  CHECK(f.world.counters.canceled_too_wide.get() == 1);
  CHECK(events_of(*narrow) == 1);
}

TEST_CASE("a stream that takes nothing of a large response ends while others wait, and they get theirs") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> streams;
  for (std::size_t i = 0; i < kTurnsMax + 1; ++i) {
    streams.push_back(f.stream(f.others[i]));
    f.watch(*streams.back(), "k");
  }
  f.put("k", kMiB);
  f.run_ms(kTurnStalledMs / 2);
  std::size_t waits = streams.size();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (events_of(*streams[i]) == 0) waits = i;
  }
  REQUIRE(waits < streams.size());
  const std::size_t reads = waits == 0 ? 1 : 0;  // one of the others reads a little
  for (int i = 0; i < 6; ++i) {
    streams[reads]->read(kTurnBytesMin);
    f.run_ms(static_cast<int>(kTurnStalledMs) / 2);
  }
  CHECK_FALSE(streams[reads]->ended());
  CHECK(events_of(*streams[waits]) == 1);
  std::size_t ended = 0;
  for (auto& stream : streams) {
    if (!stream->ended()) continue;
    ++ended;
    CHECK(stream->ended()->error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  CHECK(ended == 1);
  CHECK(f.world.counters.streams_stalled.get() == 1);
}

TEST_CASE("without a leader, streams that demand one end, and others go on") {
  Fixture f;
  const auto demands = f.stream(f.a, /*needs_leader=*/true), patient = f.stream(f.a);
  f.watch(*demands, "k");
  f.watch(*patient, "k");
  f.run_ms(static_cast<int>(kLeaderLookMs) * (kLeaderLooksMax + 1));
  CHECK_FALSE(demands->ended());
  f.world.leader = false;
  f.run_ms(static_cast<int>(kLeaderLookMs) * (kLeaderLooksMax + 1));
  REQUIRE(demands->ended());
  CHECK(demands->ended()->error_message() == "etcdserver: no leader");
  CHECK_FALSE(patient->ended());
}

// Its client may cancel it before it reads of the end: that must not end another watch.
TEST_CASE("the id of a watch that a compaction has ended is in use until its client cancels it") {
  Fixture f;
  f.compact_all();
  const auto stream = f.stream(f.a);
  CHECK_FALSE(f.ended_watch(*stream, 1).canceled());
  CHECK(f.ended_watch(*stream, 1).cancel_reason() == "mvcc: duplicate watch ID provided on the WatchStream");
  CHECK(f.watch(*stream, "k").watch_id() == 0);
  CHECK(f.watch(*stream, "k").watch_id() == 2);
  const std::vector<pb::WatchResponse> came = f.cancel(*stream, 1);
  REQUIRE(came.size() == 1);
  CHECK((came[0].canceled() && came[0].watch_id() == 1 && came[0].compact_revision() == 0));
  CHECK(f.cancel(*stream, 1).empty());
  CHECK_FALSE(f.ended_watch(*stream, 1).canceled());
}

TEST_CASE("of watches that compactions have ended a stream keeps so many ids") {
  Fixture f;
  f.compact_all();
  const auto stream = f.stream(f.a);
  const auto last = static_cast<std::int64_t>(kEndedIdsMax) + 1;
  for (std::int64_t id = 1; id <= last; ++id) CHECK_FALSE(f.ended_watch(*stream, id).canceled());
  CHECK(f.ended_watch(*stream, 2).canceled());
  CHECK(f.ended_watch(*stream, last).canceled());
  CHECK_FALSE(f.ended_watch(*stream, 1).canceled());
  CHECK_FALSE(f.ended_watch(*stream, 2).canceled());
}

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
        "too many watch streams: " + std::to_string(f.world.counters.streams.get()) +
            " of 16384 are taken, the most (8192) by somebody, one of 33 connections; this one has 1 and may have 1; "
            "use one stream for several watches");
}

TEST_CASE("streams that are full when their turn comes keep no other from it") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> streams;  // first those that have the turns, then those that are full
  for (std::size_t i = 0; i < 2 * kTurnsMax + 1; ++i) {
    streams.push_back(f.stream(f.others[i]));
    f.watch(*streams.back(), i < kTurnsMax ? "first" : i < 2 * kTurnsMax ? "second" : "third");
    if (i / kTurnsMax == 1) f.watch(*streams.back(), "small");
  }
  f.put("first", kMiB);
  f.run_ms(100);
  f.put("second", kMiB);
  f.run_ms(100);
  f.put("small", kShareBytesMax + 1);
  f.run_ms(100);
  f.put("third", kMiB);
  f.run_ms(100);
  for (std::size_t i = 0; i < kTurnsMax; ++i) {
    CHECK(events_of(*streams[i]) == 1);
    CHECK(events_of(*streams[kTurnsMax + i]) == 1);
    streams[i]->read(2 * kMiB);
  }
  f.run_ms(60'000);
  CHECK(events_of(*streams.back()) == 1);
  for (std::size_t i = kTurnsMax; i < 2 * kTurnsMax; ++i) streams[i]->read(kMiB);  // now at the end of the line
  f.run_ms(static_cast<int>(kTurnStalledMs) / 2);
  std::size_t got = 0;
  for (std::size_t i = kTurnsMax; i < 2 * kTurnsMax; ++i) {
    CHECK_FALSE(streams[i]->ended());
    got += events_of(*streams[i]);
  }
  CHECK(got >= kTurnsMax - 1);
}

TEST_CASE("a turn that is given back to one that waits is work for the hub") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> streams;
  for (std::size_t i = 0; i < kTurnsMax + 1; ++i) {
    streams.push_back(f.stream(f.others[i]));
    f.watch(*streams.back(), i < kTurnsMax ? "first" : "second");
  }
  f.put("first", kMiB);
  f.run_ms(100);
  f.put("second", kMiB);
  f.run_ms(200);
  CHECK_FALSE(f.world.hub.readable());
  streams[0]->read(2 * kMiB);
  CHECK(f.world.hub.readable());
}

// Regression: it stayed behind, and the hub asked for the next page for ever, until the next write.
TEST_CASE("a watch that has waited for a turn for a wide revision is synced when it has got it") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> streams;
  for (std::size_t i = 0; i < kTurnsMax + 1; ++i) {
    streams.push_back(f.stream(f.others[i]));
    f.watch(*streams.back(), "k", "l");
  }
  kv::TxnRequest txn;
  for (const char* key : {"k1", "k2", "k3"}) {
    kv::PutRequest put;
    put.key = key, put.value = std::string(kEventsPageBytes / 2, 'v');
    txn.success.emplace_back(put);
  }
  f.world.client.write(txn);
  for (std::uint64_t ms = 0; ms < kWideHoldMs / 2; ++ms) f.world.round(1000);
  for (auto& stream : streams) stream->read(kMiB);
  REQUIRE(f.world.settle());
  CHECK(f.world.counters.behind.get() == 0);
  for (auto& stream : streams) CHECK(events_of(*stream) == 3);
}

TEST_CASE("a question of the feed that is refused loses no event of a watch that came after it") {
  Fixture f;
  const auto old = f.stream(f.a), later = f.stream(f.a);
  f.watch(*old, "a");  // the question that stands asks for nothing else
  f.world.client.refuses_standing = true;
  pb::WatchCreateRequest asked;
  asked.set_key("b");
  for (int i = 0; i < 2; ++i) {  // the hub asks anew for the first one, and is refused; the second one comes after that
    later->create(asked);
    for (int round = 0; round < 3; ++round) f.world.round(1000);
    REQUIRE(later->take().size() == 1);
  }
  f.put("b"), f.put("a");
  for (int round = 0; round < 3; ++round) f.world.round(1000);
  CHECK(events_of(*old) == 1);
  f.world.client.refuses_standing = false;
  REQUIRE(f.world.settle());
  CHECK(events_of(*later) == 2);
}

TEST_CASE("a watch from a compacted revision is told what is compacted now, not when there were watches last") {
  Fixture f;
  const auto compact = [&](Revision revision) {
    kv::CompactRequest request;
    request.revision = revision;
    f.world.client.write(request);
    REQUIRE(f.world.settle());
  };
  for (int i = 0; i < 30; ++i) f.put("k");
  auto stream = f.stream(f.a);
  f.watch(*stream, "k");
  compact(5);
  stream.reset();
  compact(10), compact(20);
  stream = f.stream(f.a);
  pb::WatchCreateRequest asked;
  asked.set_key("k"), asked.set_start_revision(1);
  stream->create(asked);
  REQUIRE(f.world.settle());
  const std::vector<pb::WatchResponse> came = stream->take();
  REQUIRE(came.size() == 2);
  CHECK(came[1].canceled());
  CHECK(came[1].compact_revision() == 20);
}

// Regression: a client without window sent three million creates that were refused, and all answers were kept.
TEST_CASE("requests are not read while their answers have no room, and are again once the client has taken some") {
  Fixture f;
  const auto stream = f.stream(f.a);
  pb::WatchCreateRequest invalid;
  invalid.set_key("b"), invalid.set_range_end("a");
  pb::WatchRequest progress;
  progress.mutable_progress_request();
  int asked = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (stream->may_ask()) i % 2 == 0 ? stream->create(invalid) : stream->ask(progress), ++asked;
    if (i % 10 == 0) f.world.round(10'000);
  }
  REQUIRE(f.world.settle());
  CHECK_FALSE(stream->may_ask());
  CHECK(stream->pending_bytes() >= kShareBytesMax);
  CHECK(stream->pending_bytes() <= 2 * kShareBytesMax);
  CHECK(stream->take().size() == static_cast<std::size_t>(asked));
  stream->resumed = 0;
  stream->read(stream->pending_bytes() - kShareBytesMax);
  CHECK(stream->resumed == 0);
  stream->read(1);
  CHECK(stream->resumed == 1);
  CHECK(stream->may_ask());
}

TEST_CASE("of a small share, only so many requests are read as their answers fill it") {
  Fixture f;
  std::vector<std::unique_ptr<TestStream>> others;
  std::vector<char> connections(kSharesBytes / kShareBytesMin / 64 - 2);
  for (const char& connection : connections) {
    for (int i = 0; i < 64; ++i) others.push_back(f.stream(connection));
  }
  const auto stream = f.stream(connections.front());
  pb::WatchCreateRequest invalid;
  invalid.set_key("b"), invalid.set_range_end("a");
  std::size_t asked = 0;
  for (; stream->may_ask(); ++asked) stream->create(invalid);
  CHECK(asked == kShareBytesMin / kAnswerBytesMax);
  REQUIRE(f.world.settle());
  CHECK(stream->pending_bytes() <= asked * kAnswerBytesMax);
  CHECK(stream->may_ask());
}

TEST_CASE("a watch without events is told of progress at an interval, if it asks for it") {
  Fixture f;
  const auto told = f.stream(f.a), silent = f.stream(f.a);
  f.watch(*told, "k", "", /*notify=*/true);
  f.watch(*silent, "k");
  f.put("other");
  REQUIRE(f.world.settle());
  CHECK(events_of(*told) == 0);
  for (int i = 0; i < 2; ++i) {
    f.world.round(kNotifyMs * 1000);
    REQUIRE(f.world.settle());
  }
  const std::vector<pb::WatchResponse> came = told->take();
  REQUIRE(came.size() >= 1);
  CHECK(came[0].watch_id() == 0);
  CHECK(came[0].events_size() == 0);
  CHECK(came[0].header().revision() == f.world.client.newest());
  CHECK(silent->take().empty());
}

}  // namespace
}  // namespace ingot::watch
