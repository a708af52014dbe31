// One real store behind a ReplicaClient, on the loop's own thread: no agreement, no other replicas.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/check.h"
#include "replication/client/replica_client.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"
#include "tests/fuzz/heap_meter.h"

namespace ingot::fuzz {

// The store and its answers are the test's memory; requests that wait are the server's. Not thread-safe.
class ClientStore final : public ReplicaClient {
 public:
  explicit ClientStore(HeapMeter& meter) : meter_(meter) {}

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId) override {
    waiting_.push_back({kind, std::move(payload), std::move(callback)});
  }

  // Answers all that waits, and what that asks for. The server runs.
  void pump(std::uint64_t now_ns) {
    while (!waiting_.empty()) {
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      if (next.kind == RequestKind::kStandingQuery) {
        stand(next, now_ns);
      } else {
        answer(next);
      }
    }
    look_at_standing(now_ns);
  }

  // Somebody else's command. The test runs.
  void write(const kv::Request& request) { apply(kv::encode(request)); }

  // The test runs.
  std::string read(const kv::Request& query) const { return store_.query(kv::encode(query)); }

  kv::Revision revision() const { return store_.revision(); }
  // Of events, with previous values: of all, and of the largest revision.
  std::size_t events() const { return events_; }
  std::size_t events_bytes() const { return events_bytes_; }
  std::size_t revision_bytes_max() const { return revision_bytes_max_; }

 private:
  static constexpr std::uint64_t kOverdueNs = 100'000'000;  // after which a replica tells a standing query of little

  struct Waiting {
    RequestKind kind;
    std::string payload;
    Callback callback;
  };
  struct Standing {
    std::unique_ptr<StandingQuery> query;
    Callback callback;
    std::uint64_t since_ns;
  };

  void reply(const Callback& callback, ReplicaReply::Outcome outcome, std::string_view payload) {
    const HeapMeter::Section server(meter_, true);
    ReplicaReply reply;
    reply.outcome = outcome;
    reply.payload = payload;
    callback(reply);
  }

  void answer(const Waiting& waiting) {
    const HeapMeter::Section test(meter_, false);
    const bool command = waiting.kind == RequestKind::kCommand;
    const std::string result = command ? apply(waiting.payload) : store_.query(waiting.payload);
    reply(waiting.callback, ReplicaReply::Outcome::kOk, result);
  }

  void stand(const Waiting& waiting, std::uint64_t now_ns) {
    if (standing_) end_standing(ReplicaReply::Outcome::kUnknown, "");
    standing_ = Standing{nullptr, waiting.callback, now_ns};
    const HeapMeter::Section test(meter_, false);
    standing_->query = store_.stand(waiting.payload);
    INGOT_CHECK(standing_->query != nullptr, "the hub sends whole requests");
  }

  void look_at_standing(std::uint64_t now_ns) {
    if (!standing_) return;
    const HeapMeter::Section test(meter_, false);
    const std::optional<std::string> found = standing_->query->look(now_ns >= standing_->since_ns + kOverdueNs);
    if (!found) return;
    const HeapMeter::Section server(meter_, true);
    end_standing(ReplicaReply::Outcome::kOk, *found);
  }

  void end_standing(ReplicaReply::Outcome outcome, std::string_view payload) {
    Standing ended = *std::exchange(standing_, std::nullopt);
    {
      const HeapMeter::Section test(meter_, false);
      ended.query.reset();
    }
    reply(ended.callback, outcome, payload);
  }

  std::string apply(std::string_view command) {
    const kv::Revision before = store_.revision();
    std::string result = store_.apply(Slot(slot_++), command);
    if (store_.revision() == before) return result;
    kv::EventsRequest events;
    events.from = {store_.revision(), 0};
    events.prev_kv = true;
    events.bytes_max = 1u << 30;
    events.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
    const std::string answer = store_.query(kv::encode(kv::Request(std::move(events))));
    const std::size_t bytes = answer.size();
    events_ += std::get<kv::EventsResult>(kv::decode_result(answer)->body).events.size();
    events_bytes_ += bytes;
    revision_bytes_max_ = std::max(revision_bytes_max_, bytes);
    return result;
  }

  HeapMeter& meter_;
  kv::KvStore store_;
  std::uint64_t slot_ = 0;
  std::deque<Waiting> waiting_;
  std::optional<Standing> standing_;
  std::size_t events_ = 0;
  std::size_t events_bytes_ = 0;
  std::size_t revision_bytes_max_ = 0;
};

}  // namespace ingot::fuzz
