// One replica of a process, with everything that it owns: page, stable segment, store, transport.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/replica/replica.h"
#include "replication/stable/segment.h"
#include "replication/store/kv_store.h"
#include "services/instance/instance_memory.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_messages.h"
#include "transport/host/host_transport.h"
#include "transport/host/peer_incarnations.h"

namespace ingot::inline services_replica_process {

// What a process is told of an endpoint's incarnations, as all of its replicas receive it. They share its descriptor
// and mapping.
struct IncarnationChange {
  enum class Kind : std::uint8_t {
    kBegins,    // the next incarnation
    kEnded,     // likewise, but it has ended meanwhile
    kReleased,  // some segments of earlier ones are no longer kept
  };
  Kind kind = Kind::kBegins;
  EndpointId endpoint;
  Incarnation incarnation{0};                 // kBegins, kEnded
  // kBegins: of a replica or the view's publisher one, of the front end one for each of its endpoints, from `endpoint`
  // on.
  std::shared_ptr<const std::vector<Descriptor>> inboxes{};
  // kBegins of a replica, kEnded; null: it could not be mapped, so its content is unknown here.
  std::shared_ptr<const Segment> stable{};
  std::vector<Incarnation> kept{};  // earlier incarnations of the replica whose segments are kept
};

// Takes a NewIncarnation or KeptIncarnations message with its descriptors. `config`: the instance's. Errors:
// INVALID_ARGUMENT (the message does not fit this instance).
absl::StatusOr<IncarnationChange> read_incarnation_change(const SupervisionMessage& message,
                                                          std::vector<Descriptor> fds, const DaemonConfig& config);

// Hands a finished snapshot of the slots below `slot` to the supervisor, to be published. The replica repeats the call
// from time to time until the snapshot is published: while there is no supervisor, the message is lost.
using PublishSnapshot = std::function<void(Incarnation from, Slot slot, int fd)>;

// What a process gives to each of its replicas; see Replica::Snapshots and Replica::Deaths.
struct ProcessParts {
  PublishSnapshot publish;
  std::vector<CoreId> helper_cores;
  const Counter* marks = nullptr;  // DeathWatch::deaths(), or null; outlives the replica
};

// Built on the thread that runs its loop, so that its memory is local to that core; used by that thread only.
class HostedReplica {
 public:
  // REQUIRES: `memory` outlives the replica. The descriptors of `launch` are not needed afterwards. Errors as for
  // Segment::map, StableSegment::open and read_trees.
  static absl::StatusOr<std::unique_ptr<HostedReplica>> create(const LaunchSpec& spec, const ReplicaLaunch& launch,
                                                               InstanceMemory& memory, const ProcessParts& process);

  Replica& replica() { return *replica_; }
  ReplicaPage& page() { return *page_segment_.as<ReplicaPage>(); }

  // Errors as for Fabric::map_inbox; then this replica exchanges no messages with that incarnation.
  absl::Status change_incarnation(const IncarnationChange& change, const Fabric& fabric);

  // Sets the incarnation on the replica's page, with release: a reader that gets it with acquire sees a valid page.
  void announce(std::uint32_t incarnation);

 private:
  HostedReplica(Segment page, std::unique_ptr<StableSegment> stable, kv::Quota quota);

  void wire(const LaunchSpec& spec, const ReplicaLaunch& launch, InstanceMemory& memory,
            std::optional<TreeOptions> trees, const ProcessParts& process);
  std::vector<LinkHooks> link_hooks();

  int replicas_ = 0;  // of the instance
  Segment page_segment_;
  std::unique_ptr<StableSegment> stable_;
  kv::KvStore store_;
  std::unique_ptr<ChannelTransport> transport_;
  std::unique_ptr<PeerIncarnations> incarnations_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace ingot::services_replica_process
