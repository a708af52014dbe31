// One loop that serves clients: its network, its calls, and whatever else polls on it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <grpcpp/channel.h>

#include "absl/status/statusor.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/access/access_rules.h"
#include "services/access/caller.h"
#include "services/config/daemon_config.h"
#include "services/etcd/kv_methods.h"
#include "services/etcd/lease_methods.h"
#include "services/locks/lock_methods.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/passing/budget.h"
#include "services/rpc/passing/passing.h"
#include "services/rpc/server/counters.h"
#include "services/rpc/server/methods.h"
#include "services/rpc/server/server.h"
#include "services/watch/watch_methods.h"
#include "transport/host/descriptor.h"
#include "transport/host/event_loop.h"
#include "transport/host/loop_tasks.h"

namespace ingot::inline services_serving {

// A round: what the sockets have, the calls that have come, the tasks of other threads, the replicas' answers; then the
// session's messages leave at once, and one write goes to each connection with output. So what polls is added in this
// order: serve(), then the client of the replicas.
//
// Made, filled and destroyed by one thread while the loop does not run; only tasks(), drain(), drained() and the
// counters are for other threads.
class ServingLoop {
 public:
  // Errors: RESOURCE_EXHAUSTED (descriptors).
  static absl::StatusOr<std::unique_ptr<ServingLoop>> create(WaitOptions wait);
  ~ServingLoop() { end(); }

  EventLoop& loop() { return *loop_; }
  // Callable from any thread.
  LoopTasks& tasks() { return *tasks_; }
  const std::shared_ptr<LoopTasks>& shared_tasks() { return tasks_; }

  // What the calls need. All outlive the loop.
  struct Parts {
    const DaemonConfig& config;
    const InstanceView& view;
    RequestMetrics& metrics;
    const AccessRules& rules;
    const rpc::Http1Answers& http1;
    rpc::PassedCalls& passed_calls;
    int connections;  // the loop's share of what the process has descriptors for
  };
  // Makes the server, with KV, Lease, Watch, Lock and Election on this loop; `client` is used by the loop's thread
  // only. All other calls go to the gRPC server at the end of `channel`. To be called once, before the loop runs.
  void serve(const Parts& parts, ReplicaClient& client, std::shared_ptr<grpc::Channel> channel);

  // Waits until the calls that were passed on have ended, and closes all connections. To be called when the loop has
  // ended, or instead of running it.
  void end();

  // Before the loop runs, or on its thread. REQUIRES: serve().
  absl::Status listen(Descriptor socket, Caller::Door door) { return server_->listen(std::move(socket), door); }
  void adopt(Descriptor connection, const Caller& caller) { server_->adopt(std::move(connection), caller); }

  // As rpc::Server::drain, soon. Any thread.
  void drain();
  // Whether drain() was called, no call is open and all answers have left. Any thread.
  bool drained() const { return drained_.load(std::memory_order_acquire); }

  const rpc::ServerCounters& counters() const { return counters_; }
  const watch::WatchCounters& watch_counters() const { return watch_counters_; }

 private:
  ServingLoop(std::unique_ptr<boost::asio::io_context> io, std::unique_ptr<EventLoop> loop,
              std::shared_ptr<LoopTasks> tasks);
  void end_round();

  const std::unique_ptr<boost::asio::io_context> io_;
  const std::shared_ptr<LoopTasks> tasks_;  // the loop waits for its bell
  const std::unique_ptr<EventLoop> loop_;
  std::atomic<bool> drained_{false};
  bool draining_ = false;  // the loop's thread
  rpc::ServerCounters counters_;
  watch::WatchCounters watch_counters_;
  rpc::Methods methods_;
  std::unique_ptr<etcd::KvMethods> kv_;
  std::unique_ptr<etcd::LeaseMethods> leases_;
  std::unique_ptr<watch::WatchMethods> watches_;
  std::unique_ptr<locks::LockMethods> locks_;  // upon the hub of watches_
  std::unique_ptr<rpc::Passing> passing_;
  std::unique_ptr<rpc::Server> server_;
};

}  // namespace ingot::services_serving
