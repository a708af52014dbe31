// What a hub does at its bounds, and without a leader.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tests/services/watch/hub_fixture.h"

namespace ingot::watch {
namespace {

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
