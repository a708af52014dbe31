// Maintenance.Snapshot on a loop: sends a backup of the store (services/backup/format.h).
//
// The call wishes for a snapshot by a command (replication/requests/snapshot_wish.h), whose answer names the slot that
// bounds all that was acknowledged before. It waits until a snapshot at or above that slot is published, as a process
// of the instance gets it anyway, and sends it part by part. So whichever replica dies meanwhile, the stream goes on;
// it ends with an error if this process does.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <grpcpp/support/status.h>

#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/access/caller.h"
#include "services/backup/held_snapshot.h"
#include "services/backup/wish_pace.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"
#include "transport/pollable.h"

namespace ingot::etcd {

// Where an instance's snapshots come from.
struct SnapshotParts {
  const NewestSnapshot* newest = nullptr;  // null: none are published
  bool trees = false;                      // as BackupSource::Origin
};

// What the calls of all loops share: who has a snapshot sent, and when one may be wished for. Thread-safe.
class SnapshotPlaces {
 public:
  explicit SnapshotPlaces(SnapshotParts parts) : parts(parts) {}

  // Why the caller's call has no place, or nothing; then leave() has to follow.
  std::optional<std::string> enter(const Caller& caller);
  void leave(const Caller& caller);

  // Whether a call of the caller's listener may wish for a snapshot now, by WishPace; then end_wish() has to follow.
  bool take_wish(const Caller& caller);
  void end_wish(const Caller& caller);

  const SnapshotParts parts;

 private:
  std::mutex mutex_;  // guards what follows, by listener
  std::array<std::vector<Caller>, 2> callers_;  // of the calls that have a place
  std::array<WishPace, 2> paces_;
};

// The calls of one loop, used by its thread only, which polls this. The arguments outlive it.
class SnapshotCalls final : public Pollable {
 public:
  SnapshotCalls(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics,
                SnapshotPlaces& places)
      : client_(client), view_(view), header_(config, view), metrics_(metrics), places_(places) {}

  // Adds the method, which uses this object.
  void add_to(rpc::Methods& methods);

  // Ends all streams.
  void end(const grpc::Status& status);

  // Pollable.
  int poll(std::uint64_t now_ns) override;
  bool readable() override { return false; }
  std::uint64_t deadline_ns() const override;

 private:
  class Stream;

  ReplicaClient& client_;
  const InstanceView& view_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
  SnapshotPlaces& places_;
  std::set<Stream*> streams_;  // those that have a place and are open
};

}  // namespace ingot::etcd
