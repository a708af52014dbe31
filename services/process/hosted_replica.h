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
#include "services/process/instance_memory.h"
#include "services/process/launch_spec.h"
#include "services/process/supervision_messages.h"
#include "transport/host/host_transport.h"
#include "transport/host/peer_incarnations.h"

namespace ingot {

// An endpoint's next incarnation, as all replicas of a process receive it. They share its descriptor and mapping.
struct IncarnationStart {
  EndpointId endpoint;
  Incarnation incarnation;
  std::shared_ptr<const Descriptor> inbox;
  std::shared_ptr<const Segment> stable;  // null: the endpoint is not a replica
};

// Takes a NewIncarnation message with its descriptors. `endpoints`: how many the instance has; the last one is the
// front end. Errors: INVALID_ARGUMENT (the message does not fit this instance), others as for Segment::map.
absl::StatusOr<IncarnationStart> read_incarnation_start(const supervision_v1::NewIncarnation& started,
                                                        std::vector<Descriptor> fds, int endpoints);

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

  absl::Status begin_incarnation(const IncarnationStart& start, const Fabric& fabric);

  // Sets the incarnation on the replica's page, with release: a reader that gets it with acquire sees a valid page.
  void announce(std::uint32_t incarnation);

 private:
  HostedReplica(Segment page, std::unique_ptr<StableSegment> stable);

  void wire(const LaunchSpec& spec, const ReplicaLaunch& launch, InstanceMemory& memory,
            std::optional<TreeOptions> trees, const ProcessParts& process);
  std::vector<LinkHooks> link_hooks();

  Segment page_segment_;
  std::unique_ptr<StableSegment> stable_;
  kv::KvStore store_;
  std::unique_ptr<ChannelTransport> transport_;
  std::unique_ptr<PeerIncarnations> incarnations_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace ingot
