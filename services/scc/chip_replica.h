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
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/segment.h"
#include "replication/replica/trees/router.h"
#include "services/config/daemon_config.h"
#include "transport/scc/chip_transport.h"
#include "transport/host/segment.h"

namespace ingot {

// What a replica shares with the rest of the instance. All of it outlives the replica's program.
struct ChipContext {
  const DaemonConfig& config;
  const scc::ChipFabric& fabric;
  std::vector<const ReplicaPage*> pages;
  std::vector<IncarnationSegments> segments;  // stable ones, by replica: one incarnation each, since who was killed stays dead
  const DaemonPage* daemon = nullptr;
  std::optional<TreeOptions> trees;
  std::uint64_t cycles_per_message = 0;
  std::function<void(const std::string&)> log;  // a line for the operator's log; may be empty
  std::function<bool(ReplicaIncarnation)> fence;       // kills that incarnation's core; says whether it ran
};

// Owns what outlives a death: page and stable segment. Its stable segment is plain memory of the process, which stands
// for DRAM that all cores reach; it is charged by the line.
class ChipReplica {
 public:
  // On the thread that will run the chip. Errors as for StableSegment::open.
  static absl::StatusOr<std::unique_ptr<ChipReplica>> create(int id);

  ReplicaPage& page() { return *page_; }
  IncarnationSegments segments() const { return {{Incarnation(1), segment_}}; }

  // The program of its core, once. Whatever ends it, the stable segment's lock is let go then, which is what the
  // kernel's mark is on the host: from then on the segment is final.
  void run(const ChipContext& context, scc::Core& core);

 private:
  explicit ChipReplica(int id) : id_(static_cast<std::uint16_t>(id)), page_(std::make_unique<ReplicaPage>()) {}
  Replica::Parts parts(const ChipContext& context);
  std::vector<LinkHooks> link_hooks();

  const EndpointId id_;
  const std::unique_ptr<ReplicaPage> page_;
  Descriptor stable_fd_;
  std::shared_ptr<const Segment> segment_;  // read-only, for everybody
  std::unique_ptr<StableSegment> stable_;  // the writer's, until its program takes it
};

}  // namespace ingot
