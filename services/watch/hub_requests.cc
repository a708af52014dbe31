// What clients ask of a hub: watches, their end, and how far they have come.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "replication/store/codec.h"
#include "services/watch/hub.h"

namespace ingot::watch {
namespace {

constexpr std::string_view kSmallestKey("\0", 1);
constexpr std::uint64_t kMs = 1'000'000;

}  // namespace

void Hub::request(WatchStream& stream, pb::WatchRequest&& request, std::size_t bytes) {
  stream.parked.push_back({std::move(request), ++arrivals_, bytes});
  parked_bytes_ += bytes;
  if (!std::exchange(stream.waits_for_look, true)) looking_.push_back(&stream);
}

// Only what can be answered: there is room for the answers to all that is parked, which may be as long as the share.
bool Hub::takes_requests(WatchStream& stream) {
  if (room_.is_full(stream)) {
    stream.waits_for_room = true;  // writable() goes on
    stream.output.tell_below(room_.share(stream));
    return false;
  }
  const std::size_t parked_max = std::min(kParkedRequestsMax, room_.share(stream) / kAnswerBytesMax);
  if (stream.parked.size() < parked_max && parked_bytes_ < kParkedBytesMax) return true;
  if (!std::exchange(stream.held_back, true)) held_back_.push_back(&stream);
  return false;
}

// ---- The store's revisions ----

void Hub::ask_look(RequestKind kind) {
  look_under_way_ = true;
  look_covers_ = arrivals_;
  kv::EventsRequest nothing;
  nothing.from.revision = std::numeric_limits<Revision>::max();
  environment_.client.submit(kind, kv::encode(kv::Request(std::move(nothing))),
                             [this, kind](const ReplicaReply& reply) { take_look(reply, kind); });
}

// While the group decides nothing, a replica's own revision has to do.
void Hub::take_look(const ReplicaReply& reply, RequestKind kind) {
  look_under_way_ = false;
  auto result = reply.outcome == ReplicaReply::Outcome::kOk ? kv::decode_result(reply.payload)
                                                            : absl::StatusOr<kv::Result>(absl::UnavailableError(""));
  const auto* events = result.ok() ? std::get_if<kv::EventsResult>(&result->body) : nullptr;
  if (events != nullptr) {
    looked_at_ = look_covers_;
    looked_revision_ = result->revision;
    looked_compacted_ = events->compact_revision;
    return;
  }
  look_retry_ns_ = now_ns_ + kEventsRetryMs * kMs;
  const bool undecided =
      reply.outcome == ReplicaReply::Outcome::kBlocked || reply.outcome == ReplicaReply::Outcome::kUnknown;
  if (kind == RequestKind::kLinearizableQuery && undecided) ask_look(RequestKind::kLocalQuery);
}

int Hub::answer_requests() {
  int answered = 0;
  std::erase_if(looking_, [&](WatchStream* stream) {
    while (!stream->parked.empty() && stream->parked.front().arrival <= looked_at_) {
      const Parked parked = std::move(stream->parked.front());
      stream->parked.pop_front();
      parked_bytes_ -= parked.bytes;
      carry_out(*stream, parked.request);
      ++answered;
    }
    stream->waits_for_look = !stream->parked.empty();
    return stream->parked.empty();
  });
  const bool room = std::exchange(parked_left_, false) || answered > 0;
  if (!room || held_back_.empty()) return answered;
  for (WatchStream* stream : std::exchange(held_back_, {})) {
    stream->held_back = false;
    stream->output.resume();
  }
  return answered;
}

// ---- Requests ----

void Hub::carry_out(WatchStream& stream, const pb::WatchRequest& request) {
  switch (request.request_union_case()) {
    case pb::WatchRequest::kCreateRequest:
      return create(stream, request.create_request());
    case pb::WatchRequest::kCancelRequest: {
      const std::int64_t id = request.cancel_request().watch_id();
      if (const auto watch = stream.watches.find(id); watch != stream.watches.end()) {
        remove(*watch->second);
      } else if (std::erase(stream.ended_ids, id) == 0) {
        return;
      }
      pb::WatchResponse response;
      response.set_watch_id(id);
      response.set_canceled(true);
      return send(stream, response, looked_revision_);
    }
    case pb::WatchRequest::kProgressRequest:
      if (stream.progress.size() == kParkedRequestsMax) stream.progress.pop_back();  // the later one says as much
      stream.progress.push_back(looked_revision_);
      if (!std::exchange(stream.wants_progress, true)) progress_.push_back(&stream);
      return;
    default:
      return;
  }
}

// No value: it is fine.
std::optional<std::string> Hub::refusal(const WatchStream& stream, const pb::WatchCreateRequest& request) {
  const std::string& key = request.key();
  const std::string& end = request.range_end();
  if (!end.empty() && end != kNoEnd && end <= key) return "mvcc: watcher range is empty";
  if (request.watch_id() != 0 && stream.uses(request.watch_id())) {
    return "mvcc: duplicate watch ID provided on the WatchStream";
  }
  if (request.start_revision() < 0) return "etcdserver: mvcc: required revision has been compacted";
  auto why = shares_.refusal(*stream.holder, Resource::kWatches, 1, now_ns_);
  if (!why) why = shares_.refusal(*stream.holder, Resource::kKeyBytes, key.size() + end.size(), now_ns_);
  if (why) *why = "etcdserver: " + *why;
  return why;
}

void Hub::refuse(WatchStream& stream, const std::string& why) {
  counters_.refused.add(1);
  pb::WatchResponse response;
  response.set_watch_id(-1);
  response.set_created(true);
  response.set_canceled(true);
  response.set_cancel_reason(why);
  send(stream, response, looked_revision_);
}

void Hub::create(WatchStream& stream, const pb::WatchCreateRequest& request) {
  if (const auto why = refusal(stream, request)) return refuse(stream, *why);
  auto made = std::make_unique<Watch>();
  Watch& watch = *made;
  watch.id = request.watch_id();
  if (watch.id == 0) {
    while (stream.uses(stream.next_id)) ++stream.next_id;
    watch.id = stream.next_id++;
  }
  watch.stream = &stream;
  watch.prev_kv = request.prev_kv();
  watch.fragment = request.fragment();
  watch.progress_notify = request.progress_notify();
  for (const int filter : request.filters()) {
    watch.no_put |= filter == pb::WatchCreateRequest::NOPUT;
    watch.no_delete |= filter == pb::WatchCreateRequest::NODELETE;
  }
  const std::string key = request.key().empty() ? std::string(kSmallestKey) : request.key();
  watch.group = &index_.join(key, request.range_end());
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  watch.slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[watch.slot].watch = &watch;
  stream.watches.emplace(watch.id, std::move(made));

  shares_.add(*stream.holder, Resource::kWatches, 1);
  shares_.add(*stream.holder, Resource::kKeyBytes, key.size() + request.range_end().size());
  if (watches() == 1) {
    feed_.position = std::max(feed_.position, looked_revision_ + 1);
    feed_.place = 0;
    lag_look_ns_ = now_ns_ + kLagLookMs * kMs;
    notice_ns_ = now_ns_ + environment_.notify_ms * kMs;
  }
  counters_.watches.set(watches());
  counters_.created.add(1);
  if (!cover_.holds(key, request.range_end()) || (watch.prev_kv && !cover_previous_)) {
    cover_.add(key, request.range_end());
    cover_previous_ |= watch.prev_kv;
    ++cover_number_;
  }
  watch.cover_number = cover_number_;
  pb::WatchResponse response;
  response.set_watch_id(watch.id);
  response.set_created(true);
  send(stream, response, looked_revision_);
  watch.position = request.start_revision() == 0 ? looked_revision_ + 1 : request.start_revision();
  place(watch);
  const Revision compacted = std::max(compacted_, looked_compacted_);
  if (watch.position >= compacted) return;
  pb::WatchResponse lost;
  lost.set_compact_revision(compacted);
  cancel(watch, std::move(lost));
}

// By the server: `response` says why.
void Hub::cancel(Watch& watch, pb::WatchResponse&& response) {
  WatchStream& stream = *watch.stream;
  response.set_watch_id(watch.id);
  response.set_canceled(true);
  (response.compact_revision() > 0 ? counters_.canceled_compacted : counters_.canceled_too_wide).add(1);
  if (stream.ended_ids.size() == kEndedIdsMax) stream.ended_ids.erase(stream.ended_ids.begin());
  stream.ended_ids.push_back(watch.id);
  remove(watch);
  send(stream, response, 0);
}

void Hub::send(WatchStream& stream, pb::WatchResponse& response, Revision revision) {
  environment_.fill(response.mutable_header());
  response.mutable_header()->set_revision(revision);
  std::vector<std::string> pieces;
  pieces.push_back(response.SerializePartialAsString());
  stream.output.send(std::move(pieces));
}

// ---- Progress ----

// The greatest revision that a stream waits for and the feed has not read.
Revision Hub::wanted_progress() const {
  Revision wanted = 0;
  for (const WatchStream* stream : progress_) {
    if (!stream->watches.empty()) wanted = std::max(wanted, stream->progress.back());
  }
  return wanted >= feed_.position ? wanted : 0;
}

int Hub::answer_progress() {
  if (progress_.empty()) return 0;
  int answered = 0;
  std::erase_if(progress_, [&](WatchStream* stream) {
    while (!stream->progress.empty()) {
      Revision revision = stream->progress.front();
      if (!stream->watches.empty()) {
        const bool read = !delivery_ && feed_.place == 0 && revision < feed_.position;
        if (!read || stream->not_synced > 0) break;
        revision = feed_.position - 1;
      }
      stream->progress.pop_front();
      pb::WatchResponse response;
      response.set_watch_id(-1);
      send(*stream, response, revision);
      ++answered;
    }
    stream->wants_progress = !stream->progress.empty();
    return stream->progress.empty();
  });
  return answered;
}

}  // namespace ingot::watch
