#include "tests/services/etcd/local_replica_client.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/check.h"

namespace ingot {
namespace {

// As long as a replica waits before it tells a standing query of little.
constexpr auto kOverdue = std::chrono::milliseconds(100);

}  // namespace

LocalReplicaClient::LocalReplicaClient(int replicas, kv::Quota quota)
    : replicas_(make_replicas(replicas, quota)), thread_([this] { run(); }) {}

std::deque<LocalReplicaClient::Replica> LocalReplicaClient::make_replicas(int count, kv::Quota quota) {
  std::deque<Replica> replicas;
  for (int i = 0; i < count; ++i) replicas.emplace_back(quota);
  return replicas;
}

LocalReplicaClient::~LocalReplicaClient() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LocalReplicaClient::submit(RequestKind kind, std::string payload, Callback callback, EndpointId) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({kind, std::move(payload), std::move(callback)});
  }
  changed_.notify_one();
}

void LocalReplicaClient::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto woken = [this] { return stopping_ || !queue_.empty(); };
    if (!standing_) {
      changed_.wait(lock, woken);
    } else if (!changed_.wait_for(lock, kOverdue, woken)) {
      lock.unlock();
      look_at_standing(/*overdue=*/true);
      lock.lock();
      continue;
    }
    if (queue_.empty()) break;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (item.kind == RequestKind::kStandingQuery) {
      stand(std::move(item));
    } else {
      answer(item);
    }
    look_at_standing(/*overdue=*/false);
    lock.lock();
  }
  lock.unlock();
  if (standing_) standing_->callback({});
}

void LocalReplicaClient::stand(Item&& item) {
  auto query = replicas_.back().store.stand(item.payload);
  INGOT_CHECK(query != nullptr, "etcd's services send whole requests");
  if (standing_) standing_->callback({});  // a client has one
  standing_ = Standing{std::move(query), std::move(item.callback)};
}

void LocalReplicaClient::look_at_standing(bool overdue) {
  if (!standing_) return;
  const std::optional<std::string> found = standing_->query->look(overdue);
  if (!found) return;
  ReplicaReply reply;
  reply.outcome = ReplicaReply::Outcome::kOk;
  reply.payload = *found;
  std::exchange(standing_, std::nullopt)->callback(reply);
}

void LocalReplicaClient::answer(Item& item) {
  if (interloper_) interloper_(item.kind);
  ReplicaReply reply;
  reply.outcome = outcome_;
  std::string payload = sentence_;
  if (outcome_ == ReplicaReply::Outcome::kOk) payload = carry_out(item);
  reply.payload = payload;
  item.callback(reply);
}

std::string LocalReplicaClient::carry_out(const Item& item) {
  switch (item.kind) {
    case RequestKind::kCommand:
      return append(item.payload);
    case RequestKind::kLinearizableQuery:
      return replicas_.front().store.query(item.payload);
    case RequestKind::kLocalQuery:
      return replicas_.back().store.query(item.payload);
    case RequestKind::kStandingQuery:
    case RequestKind::kDigest:
    case RequestKind::kMove:
      break;
  }
  INGOT_CHECK(false, "standing queries are parked, and etcd's services ask for nothing else");
}

std::string LocalReplicaClient::append(std::string command) {
  log_.push_back(std::move(command));
  std::string result = replicas_.front().store.apply(Slot(log_.size() - 1), log_.back());
  replicas_.front().applied = log_.size();
  if (!holds_followers_) catch_up();
  return result;
}

void LocalReplicaClient::catch_up() {
  for (Replica& replica : replicas_) {
    for (; replica.applied < log_.size(); ++replica.applied) {
      replica.store.apply(Slot(replica.applied), log_[replica.applied]);
    }
  }
}

kv::Result LocalReplicaClient::apply(const kv::Request& request) {
  absl::StatusOr<kv::Result> result = kv::decode_result(append(kv::encode(request)));
  INGOT_CHECK(result.ok());
  return *std::move(result);
}

}  // namespace ingot
