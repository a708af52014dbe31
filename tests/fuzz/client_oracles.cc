// What a server among clients owes: memory within its named bounds, and answers to an ordinary client.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "proto/etcd/rpc.pb.h"
#include "services/watch/limits.h"
#include "tests/fuzz/client_world.h"

namespace ingot::fuzz {
namespace {

namespace pb = etcdserverpb;

constexpr const char* kKey = "o";  // the ordinary client's

// What each thing may take besides the bytes that are counted.
constexpr std::size_t kLoopBytes = 256 * 1024;                         // tables, and buffers that are used again
constexpr std::size_t kLinkBytes = 32 * 1024;                          // a session and its buffers
constexpr std::size_t kStreamBytes = 2 * rpc::kMetadataBytesMax;       // its head, and buffers of kKeptCapacityBytes
constexpr std::size_t kWatchBytes = 1024;                              // with its group and its places in lists
constexpr std::size_t kParkedBytes = watch::kParkedRequestsMax * 512;  // of a stream
constexpr std::size_t kPairBytes = 32;                                 // of a watch and an event that it is to be given
constexpr std::size_t kAnswerCopies = 4;  // of events: as they came, and as they are sent; the feed's and the sweep's
constexpr int kOvercommit = 2;            // capacity that strings and tables may have above their size

// A stream below its share may get as much again, and answers to requests that were read by then.
constexpr std::size_t kControlBytesMax = watch::kParkedRequestsMax * 512;
constexpr std::size_t kCancelBytes = 128;  // a watch's end by a compaction; it waits for no room

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  INGOT_CHECK(false, "a client has harmed the server");
}

std::string framed(const google::protobuf::MessageLite& message) { return rpc::framed(message.SerializeAsString()); }

// The next message of an answer's body, which it leaves; null: it is not whole.
std::optional<std::string_view> next_message(std::string_view& body) {
  if (body.size() < rpc::kPrefixBytes) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 1; i < rpc::kPrefixBytes; ++i) size = size << 8 | static_cast<unsigned char>(body[i]);
  if (body.size() < rpc::kPrefixBytes + size) return std::nullopt;
  const std::string_view message = body.substr(rpc::kPrefixBytes, size);
  body.remove_prefix(rpc::kPrefixBytes + size);
  return message;
}

// Takes the whole messages off a body.
template <typename Message, typename Each>
void take_messages(std::string& body, Each each) {
  std::string_view left = body;
  while (const auto bytes = next_message(left)) {
    Message message;
    INGOT_CHECK(message.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
    each(message);
  }
  body.erase(0, body.size() - left.size());
}

}  // namespace

// ---- Memory ----

// What waits for watch streams whose calls are open. Each has its share and what a stream below it may get; some have a
// turn for more.
std::size_t World::check_watch_output() {
  std::erase_if(watch_calls_, [](const rpc::Call& call) { return !call.open(); });
  const std::size_t cancels = watches_max_ * kCancelBytes;
  const std::size_t without_turn = 2 * watch::kShareBytesMax + kControlBytesMax + cancels;
  const std::size_t page = watch::kEventsPageBytes + store_.revision_bytes_max();
  const std::size_t response = 2 * std::min(page, store_.events_bytes());  // each event once, with some more to it
  std::size_t all = 0, with_turn = 0;
  for (const rpc::Call& call : watch_calls_) {
    const std::size_t pending = call.pending_bytes();
    all += pending;
    if (pending > without_turn + response) fail(absl::StrCat("a watch stream holds ", pending, " bytes"));
    if (pending > without_turn) ++with_turn;
  }
  const bool large = response > 2 * watch::kShareBytesMax;
  if (with_turn > (large ? watch::kTurnsMax : 0)) {
    fail(absl::StrCat(with_turn, " watch streams hold more than ", without_turn, " bytes, of ", all, " in all"));
  }
  return all;
}

void World::check_memory() {
  const std::size_t watched = check_watch_output();
  watches_max_ = std::max(watches_max_, static_cast<std::size_t>(watch_counters_.watches.get()));
  std::size_t streams = shared_->spare_streams.size(), protocol = 0, unsent = 0;
  for (const auto& link : links_) {
    if (!link->open()) continue;
    streams += link->session_->streams();
    protocol += link->session_->memory_bytes();
    unsent += link->unsent_.size();
  }
  const std::size_t counted = shared_->output_bytes + shared_->head_bytes + shared_->received_bytes + protocol + unsent;
  const std::size_t answer = std::min(watch::kEventsPageBytes + store_.revision_bytes_max(), store_.events_bytes());
  const std::size_t pairs = std::min(watch::kPairsMax, watches_max_ * store_.events());
  const std::size_t hub = watch_calls_.size() * kParkedBytes + watches_max_ * kWatchBytes + pairs * kPairBytes +
                          kAnswerCopies * answer;
  const std::size_t may = kOvercommit * counted + kLoopBytes + links_.size() * kLinkBytes + streams * kStreamBytes +
                          (watches_max_ > 0 ? hub : 0);
  const std::int64_t has = meter_.server_bytes();
  if (has <= static_cast<std::int64_t>(may)) return;
  fail(absl::StrCat("the server has ", has, " bytes and may have ", may, ": counted ", counted, " (watches ", watched,
                    ", answers ", shared_->output_bytes, ", requests ", shared_->received_bytes, ", HTTP/2 ", protocol,
                    ", sockets ", unsent, "), ", links_.size(), " connections, ", streams, " streams, ",
                    watch_calls_.size(), " of them watches'"));
}

// ---- The ordinary client ----

void World::watch_ordinary() {
  pb::WatchRequest request;
  request.mutable_create_request()->set_key(kKey);
  Peer& peer = links_.front()->peer;
  ordinary_watch_ = peer.open(rpc::RawClient::grpc_headers("/etcdserverpb.Watch/Watch"), framed(request), false);
  for (int i = 0; i < 500; ++i) {
    round(10);
    if (!peer.find(ordinary_watch_)->body.empty()) return;
  }
  fail("the ordinary client's watch is not created");
}

void World::ask_ordinary(std::size_t value_bytes) {
  Peer& peer = links_.front()->peer;
  pb::PutRequest put;
  put.set_key(kKey);
  put.set_value(std::string(value_bytes, 'o'));
  pb::RangeRequest range;
  range.set_key(kKey);
  pb::WatchRequest watch;
  watch.mutable_create_request()->set_key(kKey);
  const auto headers = [](const char* path) { return rpc::RawClient::grpc_headers(path); };
  Asked asked;
  asked.put = peer.open(headers("/etcdserverpb.KV/Put"), framed(put), true);
  asked.range = peer.open(headers("/etcdserverpb.KV/Range"), framed(range), true);
  asked.watch = peer.open(headers("/etcdserverpb.Watch/Watch"), framed(watch), false);
  await_answers(asked);
  peer.reset(asked.watch, NGHTTP2_CANCEL);
  for (const int id : {asked.put, asked.range, asked.watch}) peer.forget(id);
}

// Rounds until all is there. Others' turns for large responses may come first, each of which ends when its client takes
// little of it, or after a while.
void World::await_answers(Asked& asked) {
  constexpr std::uint64_t kRoundMs = 10;
  constexpr std::uint64_t kTurnRounds = 10'000 / kRoundMs;
  const std::uint64_t rounds_max = 500 + kTurnRounds * (watch_calls_.size() / watch::kTurnsMax + 1);
  for (std::uint64_t i = 0; i < rounds_max; ++i) {
    round(kRoundMs);
    if (!links_.front()->open()) fail("the ordinary client's connection was ended");
    hear_calls(asked);
    hear_events(asked);
    if (asked.put_revision > 0 && asked.has_range && asked.has_watch && asked.has_event) return;
  }
  fail(absl::StrCat("after ", rounds_max, " rounds of ", kRoundMs, " ms the ordinary client waits for",
                    asked.put_revision > 0 ? "" : " its put", asked.has_range ? "" : " its range",
                    asked.has_watch ? "" : " a new watch", asked.has_event ? "" : " its watch's event"));
}

void World::hear_calls(Asked& asked) {
  Peer& peer = links_.front()->peer;
  take_messages<pb::PutResponse>(peer.find(asked.put)->body, [&](const pb::PutResponse& response) {
    asked.put_revision = response.header().revision();
  });
  take_messages<pb::RangeResponse>(peer.find(asked.range)->body,
                                   [&](const pb::RangeResponse&) { asked.has_range = true; });
  take_messages<pb::WatchResponse>(peer.find(asked.watch)->body, [&](const pb::WatchResponse& response) {
    if (response.created() && response.canceled()) fail("a new watch was refused: " + response.cancel_reason());
    asked.has_watch = true;
  });
  if (peer.find(asked.put)->over && asked.put_revision == 0) fail("the ordinary client's put was refused");
  if (peer.find(asked.range)->over && !asked.has_range) fail("the ordinary client's range was refused");
  if (peer.find(asked.watch)->over && !asked.has_watch) fail("the ordinary client's watch stream was refused");
}

// A watch that a compaction has overtaken says so, and is asked for again.
void World::hear_events(Asked& asked) {
  Peer& peer = links_.front()->peer;
  Peer::Stream& stream = *peer.find(ordinary_watch_);
  bool overtaken = false;
  take_messages<pb::WatchResponse>(stream.body, [&](const pb::WatchResponse& response) {
    overtaken |= response.compact_revision() > 0;
    for (const auto& event : response.events()) {
      asked.event_revision = std::max<std::int64_t>(asked.event_revision, event.kv().mod_revision());
    }
  });
  asked.has_event |= overtaken || (asked.put_revision > 0 && asked.event_revision >= asked.put_revision);
  if (stream.over) fail("the ordinary client's watch stream was ended");
  if (!overtaken) return;
  peer.reset(ordinary_watch_, NGHTTP2_CANCEL);
  peer.forget(ordinary_watch_);
  watch_ordinary();
}

}  // namespace ingot::fuzz
