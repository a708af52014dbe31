// One replica on a simulated core: the same Replica as on the host, with the chip's transport.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/pages/pages.h"
#include "replication/replica/replica.h"
#include "replication/replica/trees/router.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/segment.h"
#include "services/config/daemon_config.h"
#include "transport/host/segment.h"
#include "transport/scc/chip_transport.h"

namespace ingot::inline services_scc {

// The parts of the instance that replicas share. All of it outlives the replica's program.
struct ChipContext {
  const DaemonConfig& config;
  const scc::ChipFabric& fabric;
  std::vector<const ReplicaPage*> pages;
  std::vector<IncarnationSegments> segments;  // by replica; one incarnation each: no restarts
  const DaemonPage* daemon = nullptr;
  std::optional<TreeOptions> trees;
  std::uint64_t cycles_per_message = 0;
  std::function<void(const std::string&)> log;  // writes a line for the operator; may be empty
  std::function<bool(ReplicaIncarnation)> fence;       // kills that incarnation's core; returns whether it ran
};

// Owns the memory that outlives a replica's death: page and stable segment. The stable segment is plain memory of the
// process, which stands for DRAM that all cores reach; accesses are charged by the line.
class ChipReplica {
 public:
  // Call it on the thread that will run the chip. Errors as for StableSegment::open.
  static absl::StatusOr<std::unique_ptr<ChipReplica>> create(int id);

  ReplicaPage& page() { return *page_; }
  IncarnationSegments segments() const { return {{Incarnation(1), segment_}}; }

  // The program of its core; runs once. However it ends, the stable segment's lock is released then, in place of the
  // kernel's mark on the host: from then on the segment is final.
  void run(const ChipContext& context, scc::Core& core);

 private:
  explicit ChipReplica(int id) : id_(static_cast<std::uint16_t>(id)), page_(std::make_unique<ReplicaPage>()) {}
  Replica::Parts parts(const ChipContext& context);
  std::vector<LinkHooks> link_hooks();

  const EndpointId id_;
  const std::unique_ptr<ReplicaPage> page_;
  Descriptor stable_fd_;
  std::shared_ptr<const Segment> segment_;  // the read-only view for all replicas
  std::unique_ptr<StableSegment> stable_;  // the writer's; moved into the program
};

}  // namespace ingot::services_scc
