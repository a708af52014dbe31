#include "services/view/publisher/replica_source.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "replication/store/limits.h"
#include "services/view/publisher/limits.h"

namespace ingot::inline services_view_publisher {

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
const std::string kZero(1, '\0');  // the first key, and as an end of a range: none

template <typename Body>
std::optional<Body> body_of(const ReplicaReply& reply) {
  if (reply.outcome != ReplicaReply::Outcome::kOk) return std::nullopt;
  auto result = kv::decode_result(reply.payload);
  if (!result.ok() || result->code != kv::Code::kOk) return std::nullopt;
  auto* const body = std::get_if<Body>(&result->body);
  return body == nullptr ? std::nullopt : std::optional(std::move(*body));
}

ViewChange change_of(const kv::KeyValue& entry, bool deleted) {
  return {.key = entry.key,
          .value = entry.value,
          .deleted = deleted,
          .revision = entry.mod_revision,
          .created = entry.create_revision,
          .version = entry.version,
          .lease = entry.lease};
}

}  // namespace

ReplicaSource::ReplicaSource(ReplicaClient& client, SourceAnswers& answers, std::function<SourceSize()> size)
    : client_(client), answers_(answers), size_(std::move(size)) {}

void ReplicaSource::ask_size() {
  answer_later([this] { answers_.on_size(size_()); });
}

// ---- Pages ----------------------------------------------------------------------------------------------------------

void ReplicaSource::ask_page(const AskPage& ask) {
  kv::RangeRequest request;
  request.key = ask.from.empty() ? kZero : ask.from;
  request.range_end = kZero;
  request.step_entries = kStepEntriesMax;
  const auto callback = [this, alive = std::weak_ptr(later_)](const ReplicaReply& reply) {
    if (!alive.expired()) take_page(reply);
  };
  client_.submit(RequestKind::kLocalQuery, kv::encode(kv::Request(std::move(request))), callback,
                 ReplicaClient::from_nearest(page_places_));
}

void ReplicaSource::take_page(const ReplicaReply& reply) {
  auto found = body_of<kv::RangeResult>(reply);
  if (!found) {
    ++page_places_;
    return answer_later([this] { answers_.on_page_failed(); });
  }
  const auto page = std::make_shared<const kv::RangeResult>(*std::move(found));
  answer_later([this, page] {
    std::vector<ViewChange> entries;
    entries.reserve(page->kvs.size());
    for (const kv::KeyValue& each : page->kvs) entries.push_back(change_of(each, false));
    answers_.on_page({page->revision, entries, page->next_key});
  });
}

// ---- Changes --------------------------------------------------------------------------------------------------------

void ReplicaSource::ask_changes(const AskChanges& ask) {
  asked_ = ask;
  submit_changes();
}

void ReplicaSource::submit_changes() {
  ask_changes_ms_ = kNever;
  kv::EventsRequest request;
  request.from = {asked_.from.revision, asked_.from.place};
  request.known_compacted = compacted_;
  request.bytes_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked_.bytes_max, kEventsBytesMax));
  request.ranges.push_back({kZero, kZero});
  const auto callback = [this, question = ++questions_, alive = std::weak_ptr(later_)](const ReplicaReply& reply) {
    if (!alive.expired()) take_changes(question, reply);
  };
  client_.submit(standing_ ? RequestKind::kStandingQuery : RequestKind::kLocalQuery,
                 kv::encode(kv::Request(std::move(request))), callback, ReplicaClient::from_nearest(change_places_));
}

void ReplicaSource::take_changes(std::uint64_t question, const ReplicaReply& reply) {
  if (question != questions_) return;
  auto events = body_of<kv::EventsResult>(reply);
  if (!events) {
    ++change_places_;
    return answer_later([this] { answers_.on_changes_failed(); });
  }
  compacted_ = events->compact_revision;  // of the replica that is asked again: another one may have compacted less
  if (asked_.from.revision < events->compact_revision) {
    return answer_later([this, compacted = events->compact_revision] { answers_.on_compacted(compacted); });
  }
  const bool news = !events->events.empty() || events->next != kv::EventPosition{asked_.from.revision,
                                                                                  asked_.from.place};
  if (news) return give_changes(*std::move(events));
  ask_changes_ms_ = now_ms_ + (standing_ ? 0 : kPollChangesMs);
}

void ReplicaSource::give_changes(kv::EventsResult events) {
  const auto answer = std::make_shared<const kv::EventsResult>(std::move(events));
  answer_later([this, answer] {
    std::vector<ViewChange> entries;
    entries.reserve(answer->events.size());
    for (const kv::Event& each : answer->events) entries.push_back(change_of(each.kv, each.deleted));
    answers_.on_changes({entries, {answer->next.revision, answer->next.place}});
  });
}

// What an answer asks for comes back by another poll(). An answer may end the source.
int ReplicaSource::poll(std::uint64_t now_ms) {
  now_ms_ = now_ms;
  int work = 0;
  if (ask_changes_ms_ <= now_ms) {
    submit_changes();
    ++work;
  }
  const std::weak_ptr alive = later_;
  Later now;
  now.swap(*later_);
  for (auto& answer : now) {
    answer();
    ++work;
    if (alive.expired()) return work;
  }
  return work;
}

}  // namespace ingot::services_view_publisher
