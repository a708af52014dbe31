// Maintenance.Snapshot: sends a backup of the store (services/backup/format.h).
//
// The call wishes for a snapshot by a command (replication/requests/snapshot_wish.h), whose answer names the slot that
// bounds all that was acknowledged before. It waits until a snapshot at or above that slot is published, as a process
// of the instance gets it anyway, and sends it part by part. So whichever replica dies meanwhile, the stream goes on;
// it ends with an error if this process does.
#pragma once

#include <grpcpp/grpcpp.h>

#include <array>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/access/caller.h"
#include "services/backup/held_snapshot.h"
#include "services/backup/limits.h"
#include "services/backup/wish_pace.h"
#include "services/etcd/header.h"
#include "services/metrics/request_metrics.h"

namespace ingot::etcd {

// Where an instance's snapshots come from.
struct SnapshotParts {
  const NewestSnapshot* newest = nullptr;  // null: none are published
  bool trees = false;                      // as BackupSource::Origin
  // Who has made a call; none: all are one caller by TCP.
  std::function<Caller(const grpc::CallbackServerContext& context)> caller{};
};

// What the calls share. Thread-safe.
class SnapshotCalls {
 public:
  // The arguments outlive the object.
  SnapshotCalls(ReplicaClient& client, const HeaderSource& header, const InstanceView& view, RequestMetrics& metrics,
                SnapshotParts parts)
      : client(client), header(header), metrics(metrics), parts(std::move(parts)), view_(view) {}

  // Nobody keeps snapshots for the instance, and none is handed over.
  bool no_supervisor() const { return view_.loss != nullptr && view_.loss->lost(); }

  // Why the caller's call has no place, or nothing; then leave() has to follow.
  std::optional<std::string> enter(const Caller& caller);
  void leave(const Caller& caller);

  // Whether a call of the door may wish for a snapshot now, by WishPace; then end_wish() has to follow.
  bool take_wish(bool local) {
    const std::lock_guard lock(mutex_);
    return paces_[local].take(std::chrono::steady_clock::now());
  }
  void end_wish(bool local) {
    const std::lock_guard lock(mutex_);
    paces_[local].end(std::chrono::steady_clock::now());
  }

  ReplicaClient& client;
  const HeaderSource& header;
  RequestMetrics& metrics;
  const SnapshotParts parts;

 private:
  const InstanceView& view_;
  std::mutex mutex_;  // guards what follows, by door
  std::array<std::vector<Caller>, 2> callers_;  // of the calls that have a place
  std::array<WishPace, 2> paces_;
};

// Returns the call's reactor, which deletes itself when gRPC has finished with it. REQUIRES: `calls` outlives it.
grpc::ServerWriteReactor<etcdserverpb::SnapshotResponse>* start_snapshot_stream(SnapshotCalls& calls,
                                                                                grpc::CallbackServerContext* context);

}  // namespace ingot::etcd
