// A ReplicaClient over real stores in this process: no agreement, no transport, no other processes. A test decides what
// happens between two requests, and how far the nearest replica lags.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "replication/store/kv_store.h"

namespace ingot {

// Replica 0 leads and answers linearizable queries; local and standing queries go to the last one. All requests run on
// one thread, in the order of submit, which is thread-safe.
class LocalReplicaClient final : public ReplicaClient {
 public:
  // Runs on the loop's thread before each request; may call apply.
  using Interloper = std::function<void(RequestKind)>;

  explicit LocalReplicaClient(int replicas, kv::Quota quota = kv::Quota());
  ~LocalReplicaClient() override;  // answers all requests submitted before

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica = kAnyReplica) override;

  // REQUIRES: no request is in flight.
  void set_interloper(Interloper interloper) { interloper_ = std::move(interloper); }
  void hold_followers(bool hold) { holds_followers_ = hold; }
  // Sets the outcome and the sentence of the next requests, which are not carried out.
  void set_outcome(ReplicaReply::Outcome outcome, std::string sentence = "") {
    outcome_ = outcome;
    sentence_ = std::move(sentence);
  }

  // Runs a command at once. REQUIRES: called by the interloper, or no request is in flight.
  kv::Result apply(const kv::Request& request);
  // Applies everything at the followers now. REQUIRES: as for apply.
  void catch_up();

  const kv::KvStore& leader() const { return replicas_.front().store; }

 private:
  struct Replica {
    explicit Replica(kv::Quota quota) : store(quota) {}

    kv::KvStore store;
    std::size_t applied = 0;  // of log_
  };
  struct Item {
    RequestKind kind;
    std::string payload;
    Callback callback;
  };

  static std::deque<Replica> make_replicas(int count, kv::Quota quota);
  void run();
  void answer(Item& item);
  std::string carry_out(const Item& item);
  void stand(Item&& item);
  void look_at_standing(bool overdue);
  std::string append(std::string command);

  std::deque<Replica> replicas_;
  std::vector<std::string> log_;
  Interloper interloper_;
  bool holds_followers_ = false;
  ReplicaReply::Outcome outcome_ = ReplicaReply::Outcome::kOk;
  std::string sentence_;
  struct Standing {
    std::unique_ptr<StandingQuery> query;
    Callback callback;
  };
  std::optional<Standing> standing_;  // used by the thread only

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::thread thread_;
};

}  // namespace ingot
