// Maintenance.Snapshot: sends a backup of the store (services/backup/format.h).
//
// The call wishes for a snapshot by a command (replication/requests/snapshot_wish.h), whose answer names the slot that
// bounds all that was acknowledged before. It waits until a snapshot at or above that slot is published, as a process
// of the instance gets it anyway, and sends it part by part. So whichever replica dies meanwhile, the stream goes on;
// it ends with an error if this process does.
#pragma once

#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
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
  // Whether a call came by the Unix socket; none: every call counts as one by TCP.
  std::function<bool(const grpc::CallbackServerContext& context)> is_local{};
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

  // False: kBackupsPerDoorMax calls have a place. Else leave() has to follow.
  bool enter(bool local) {
    if (open_[local].fetch_add(1) < kBackupsPerDoorMax) return true;
    leave(local);
    return false;
  }
  void leave(bool local) { open_[local].fetch_sub(1); }

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
  std::array<std::atomic<int>, 2> open_{};  // by door
  std::mutex mutex_;
  std::array<WishPace, 2> paces_;  // by door; guarded by mutex_
};

// Returns the call's reactor, which deletes itself when gRPC has finished with it. REQUIRES: `calls` outlives it.
grpc::ServerWriteReactor<etcdserverpb::SnapshotResponse>* start_snapshot_stream(SnapshotCalls& calls,
                                                                                grpc::CallbackServerContext* context);

}  // namespace ingot::etcd
