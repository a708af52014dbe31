// A hub among stores that lag and lose answers, a session that refuses, and clients that read slowly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "replication/client/replica_client.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"
#include "services/watch/hub.h"

namespace ingot::watch {

// Real stores behind a client. All state is the test's; nothing happens but in pump().
class StoresClient final : public ReplicaClient {
 public:
  explicit StoresClient(Prng& prng) : prng_(prng) {}

  // Random faults: answers late, lost, in another order; questions refused; stores behind the newest.
  bool faults = true;
  bool refuses_standing = false;  // the session has no room for so long a question

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica = kAnyReplica) override {
    if ((faults && prng_.chance(0.1)) || (refuses_standing && kind == RequestKind::kStandingQuery)) {
      return answer(callback, ReplicaReply::Outcome::kOverloaded, "");
    }
    const std::size_t store = static_cast<std::size_t>(places_from_nearest(replica).value_or(0)) % stores_.size();
    if (kind == RequestKind::kStandingQuery) {
      if (standing_) answer(std::exchange(standing_, std::nullopt)->callback, ReplicaReply::Outcome::kUnknown, "");
      standing_ = Standing{stores_[store]->stand(payload), std::move(callback), store, ++asked_};
      return;
    }
    waiting_.push_back({kind, std::move(payload), std::move(callback), store});
  }

  void write(const kv::Request& request) { commands_.push_back(kv::encode(request)); }

  // A round: stores apply, answers come.
  int pump(bool overdue) {
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      const std::size_t to = i == 0 || !faults || prng_.chance(0.3) ? commands_.size() : applied_[i];
      for (; applied_[i] < to; ++applied_[i]) {
        stores_[i]->apply(Slot(applied_[i]), commands_[applied_[i]]);
      }
    }
    ask_standing(overdue);
    std::vector<Waiting> all = std::exchange(waiting_, {});
    int answered = 0;
    for (Waiting& each : all) {
      if (faults && prng_.chance(0.5)) {
        waiting_.push_back(std::move(each));
        continue;
      }
      ++answered;
      const std::size_t store = each.kind == RequestKind::kLinearizableQuery ? 0 : each.store;
      const bool lost = faults && prng_.chance(0.05);
      answer(each.callback, lost ? ReplicaReply::Outcome::kUnknown : ReplicaReply::Outcome::kOk,
             lost ? "" : stores_[store]->query(each.payload));
    }
    return answered;
  }

  const kv::KvStore& store() const { return *stores_[0]; }  // the newest
  kv::Revision newest() const { return stores_[0]->revision(); }
  kv::Revision compacted() const { return stores_[0]->compact_revision(); }
  bool idle() const { return waiting_.empty(); }

 private:
  struct Waiting {
    RequestKind kind;
    std::string payload;
    Callback callback;
    std::size_t store;
  };
  struct Standing {
    std::unique_ptr<StandingQuery> query;
    Callback callback;
    std::size_t store;
    std::uint64_t asked;
  };

  void answer(const Callback& callback, ReplicaReply::Outcome outcome, std::string payload) {
    ReplicaReply reply;
    reply.outcome = outcome;
    reply.payload = std::move(payload);
    callback(reply);
  }

  void ask_standing(bool overdue) {
    if (!standing_) return;
    if (faults && prng_.chance(0.02)) {  // the store's process died, and no other is there
      return answer(std::exchange(standing_, std::nullopt)->callback, ReplicaReply::Outcome::kUnknown, "");
    }
    if (faults && prng_.chance(0.5)) return;
    std::optional<std::string> found = standing_->query->look(overdue);
    if (found) answer(std::exchange(standing_, std::nullopt)->callback, ReplicaReply::Outcome::kOk, *std::move(found));
  }

  Prng& prng_;
  std::vector<std::string> commands_;
  std::vector<std::unique_ptr<kv::KvStore>> stores_ = [] {
    std::vector<std::unique_ptr<kv::KvStore>> made;
    for (int i = 0; i < 2; ++i) made.push_back(std::make_unique<kv::KvStore>());
    return made;
  }();
  std::vector<std::size_t> applied_ = std::vector<std::size_t>(2, 0);
  std::optional<Standing> standing_;
  std::uint64_t asked_ = 0;
  std::vector<Waiting> waiting_;
};

// A client's end: what has come, and what it has not read yet.
class TestStream final : public WatchOutput {
 public:
  TestStream(Hub& hub, const void* connection, bool needs_leader = false, std::string peer = "somebody")
      : hub_(hub), connection_(connection), peer_(std::move(peer)), stream_(*this) {
    stream_.needs_leader = needs_leader;
    opened_ = hub_.open(stream_);
  }
  ~TestStream() { hub_.close(stream_); }

  int resumed = 0;  // requests are taken again

  const grpc::Status& opened() const { return opened_; }
  const std::optional<grpc::Status>& ended() const { return ended_; }
  std::vector<pb::WatchResponse> take() { return std::exchange(came_, {}); }

  void ask(pb::WatchRequest request) {
    const std::size_t bytes = request.ByteSizeLong();
    hub_.request(stream_, std::move(request), bytes);
  }
  void create(const pb::WatchCreateRequest& create) {
    pb::WatchRequest request;
    *request.mutable_create_request() = create;
    ask(std::move(request));
  }
  bool may_ask() { return hub_.takes_requests(stream_); }

  void read(std::size_t bytes) {
    pending_ -= std::min(bytes, pending_);
    if (tell_below_ != 0 && pending_ < tell_below_) {
      tell_below_ = 0;
      if (!ended_) hub_.writable(stream_);
    }
  }

  // WatchOutput.
  void send(std::vector<std::string> pieces) override {
    std::string bytes;
    for (const std::string& piece : pieces) bytes += piece;
    pending_ += bytes.size();
    came_.emplace_back();
    if (!came_.back().ParseFromString(bytes)) came_.back().set_cancel_reason("malformed");
  }
  std::size_t pending_bytes() const override { return pending_; }
  void tell_below(std::size_t bytes) override { tell_below_ = bytes; }
  void resume() override { ++resumed; }
  const void* connection() const override { return connection_; }
  std::string peer() const override { return peer_; }
  void finish(const grpc::Status& status) override { ended_ = status; }

 private:
  Hub& hub_;
  const void* connection_;
  const std::string peer_;
  WatchStream stream_;
  grpc::Status opened_;
  std::optional<grpc::Status> ended_;
  std::vector<pb::WatchResponse> came_;
  std::size_t pending_ = 0;
  std::size_t tell_below_ = 0;
};

// All of it.
struct World {
  explicit World(std::uint64_t seed) : prng(seed), client(prng) {}

  // A round of the loop, `us` later.
  int round(std::uint64_t us) {
    now_ns += us * 1000;
    int work = client.pump(prng.chance(0.2));
    work += hub.poll(now_ns);
    return work;
  }
  // Until nothing is left to do.
  bool settle() {
    client.faults = false;
    int idle = 0;
    for (int i = 0; i < 100'000 && idle < 40; ++i) idle = round(10'000) == 0 && client.idle() ? idle + 1 : 0;
    return idle == 40;
  }

  Prng prng;
  StoresClient client;
  std::uint64_t now_ns = 1'000'000'000'000;
  bool leader = true;
  WatchCounters counters;
  Hub hub{{client, counters, [](pb::ResponseHeader* header) { header->set_cluster_id(1); },
           [this] { return client.newest(); }, [this] { return leader; }}};
};

}  // namespace ingot::watch
