#include "tests/services/etcd/local_replica_client.h"

#include <utility>

#include "core/check.h"

namespace ingot {

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
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    answer(item);
    lock.lock();
  }
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
    case RequestKind::kDigest:
    case RequestKind::kMove:
      break;
  }
  INGOT_CHECK(false, "etcd's services ask for nothing else");
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
