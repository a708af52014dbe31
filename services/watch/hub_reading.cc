// What a hub asks of the replicas.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "replication/store/codec.h"
#include "services/watch/hub.h"

namespace ingot::watch {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::optional<kv::EventsResult> events_of(const ReplicaReply& reply) {
  if (reply.outcome != ReplicaReply::Outcome::kOk) return std::nullopt;
  absl::StatusOr<kv::Result> result = kv::decode_result(reply.payload);
  if (!result.ok() || result->code != kv::Code::kOk) return std::nullopt;
  auto* events = std::get_if<kv::EventsResult>(&result->body);
  return events == nullptr ? std::nullopt : std::optional(std::move(*events));
}

}  // namespace

bool Hub::look_is_due() const { return !look_under_way_ && !looking_.empty() && now_ns_ >= look_retry_ns_; }

// A question takes the place of the one before it, whose answer may come all the same and then counts: so new watches
// never keep the feed from reading on.
bool Hub::feed_is_due() const {
  if (watches() == 0 || feed_.answer || delivery_ || compaction_scan_ || now_ns_ < feed_.retry_ns) return false;
  const auto& asked = feed_.under_way;
  return !asked || cover_number_ > asked->cover || wanted_progress() > asked->at_least;
}

bool Hub::page_is_due() const {
  return behind_number_ > 0 && !sweep_.under_way && !sweep_.answer && !delivery_ && !wide_ && !compaction_scan_ &&
         now_ns_ >= sweep_.retry_ns;
}

int Hub::ask() {
  int asked = 0;
  if (look_is_due()) ask_look(RequestKind::kLinearizableQuery), ++asked;
  if (feed_is_due()) ask_feed(), ++asked;
  if (page_is_due()) ask_page(), ++asked;
  return asked;
}

// ---- The feed ----

void Hub::ask_feed() {
  kv::EventsRequest request;
  request.from = {feed_.position, feed_.place};
  request.at_least = wanted_progress();
  request.known_compacted = compacted_;
  request.bytes_max = kEventsPageBytes;
  request.prev_kv = cover_previous_;
  request.ranges = cover_.ranges();
  feed_.under_way = Question{cover_number_, request.at_least};  // a refusal takes it back before submit() returns
  counters_.feed_queries.add(1);
  const auto callback = [this, question = ++feed_.questions, cover = cover_number_, from = request.from](
                            const ReplicaReply& reply) { take_feed(question, cover, from, reply); };
  environment_.client.submit(RequestKind::kStandingQuery, kv::encode(kv::Request(std::move(request))), callback,
                             ReplicaClient::from_nearest(feed_.places));
}

void Hub::take_feed(std::uint64_t question, std::uint64_t cover, kv::EventPosition from, const ReplicaReply& reply) {
  const bool current = question == feed_.questions;
  if (current) feed_.under_way.reset();
  if (watches() == 0 || feed_.answer || from != kv::EventPosition{feed_.position, feed_.place}) return;
  if (cover < feed_.heard_cover) return;
  std::optional<kv::EventsResult> events = events_of(reply);
  if (events) {
    feed_.answer = Answer{from, std::move(*events), cover};
  } else if (current) {
    feed_.retry_ns = now_ns_ + kEventsRetryMs * kMs;
    ++feed_.places;
  }
}

// ---- Sweeps ----

// For what the watches that are behind want.
kv::EventsRequest Hub::page_request() const {
  kv::EventsRequest request;
  request.bytes_max = kEventsPageBytes;
  request.known_compacted = compacted_;
  if (behind_number_ > kCoverWatchesMax) {
    request.prev_kv = cover_previous_;
    request.ranges = cover_.ranges();
    return request;
  }
  Cover cover;
  for (const Watch& watch : behind_) {
    cover.add(watch.group->key, watch.group->range_end);
    request.prev_kv |= watch.prev_kv;
  }
  request.ranges = cover.ranges();
  return request;
}

// From the lowest position at or above the one where the pass is, or else, for the next pass, from the lowest.
void Hub::ask_page() {
  std::optional<Revision> next, lowest;
  for (const Watch& watch : behind_) {
    if (!lowest || watch.position < *lowest) lowest = watch.position;
    if (watch.position >= sweep_.position && (!next || watch.position < *next)) next = watch.position;
  }
  sweep_.position = next ? *next : *lowest;
  kv::EventsRequest request = page_request();
  request.from = {sweep_.position, 0};
  submit_page(std::move(request));
}

void Hub::submit_page(kv::EventsRequest request) {
  sweep_.under_way = true;
  counters_.pages.add(1);
  const auto callback = [this, page = ++sweep_.pages, from = request.from](const ReplicaReply& reply) {
    take_page(page, from, reply);
  };
  std::string payload = kv::encode(kv::Request(request));
  if (wide_) {
    wide_->request = std::move(request);
  } else {
    page_request_ = std::move(request);
  }
  environment_.client.submit(RequestKind::kLocalQuery, std::move(payload), callback,
                             ReplicaClient::from_nearest(sweep_.places));
}

void Hub::take_page(std::uint64_t page, kv::EventPosition from, const ReplicaReply& reply) {
  if (page != sweep_.pages || !sweep_.under_way) return;
  sweep_.under_way = false;
  std::optional<kv::EventsResult> events = events_of(reply);
  // One that has not come so far has nothing to say.
  const bool lags =
      events && events->events.empty() && events->next == from && from.revision >= events->compact_revision;
  if (events && !lags) {
    sweep_.answer = Answer{from, std::move(*events), page};
    return;
  }
  ++sweep_.places;
  sweep_.retry_ns = now_ns_ + kEventsRetryMs * kMs;
  if (wide_ && !wide_->complete) wide_.reset();  // it is read again from its begin
}

void Hub::note_compacted(Revision revision) {
  if (revision <= compacted_) return;
  compacted_ = revision;
  compaction_scan_ = 0;
}

}  // namespace ingot::watch
