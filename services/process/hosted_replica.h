// One replica of a process, with all that it owns.
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

// An endpoint's next incarnation, for all replicas of a process.
struct IncarnationStart {
  EndpointId endpoint;
  Incarnation incarnation;
  std::shared_ptr<const Descriptor> inbox;
  std::shared_ptr<const Segment> stable;  // null: it is no replica's
};

// A message of an instance with so many endpoints. Errors: INVALID_ARGUMENT (it is of another one), others as for
// Segment::map.
absl::StatusOr<IncarnationStart> read_incarnation_start(const supervision_v1::NewIncarnation& started,
                                                        std::vector<Descriptor> fds, int endpoints);

// Hands a published snapshot to the supervisor. While there is none the replica says it again now and then.
using PublishSnapshot = std::function<void(Incarnation from, Slot slot, int fd)>;

// What a replica has from its process; as in Replica::Snapshots and Replica::Deaths.
struct ProcessParts {
  PublishSnapshot publish;
  std::vector<CoreId> helper_cores;
  const Counter* marks = nullptr;  // outlives the replica
};

// Built on the thread that runs its loop, so that its memory is near; used by that thread only.
class HostedReplica {
 public:
  // `memory` outlives it. The descriptors of `launch` are not needed any more afterwards.
  static absl::StatusOr<std::unique_ptr<HostedReplica>> create(const LaunchSpec& spec, const ReplicaLaunch& launch,
                                                               InstanceMemory& memory, const ProcessParts& process);

  Replica& replica() { return *replica_; }
  ReplicaPage& page() { return *page_segment_.as<ReplicaPage>(); }

  absl::Status begin_incarnation(const IncarnationStart& start, const Fabric& fabric);

  // Whoever sees the incarnation sees a page that is valid from then on.
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
