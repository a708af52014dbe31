#include "services/process/hosted_replica.h"

#include <signal.h>

#include <cstdio>
#include <string>
#include <utility>

#include "core/wire.h"
#include "replication/agreement/registry.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/store/gauges.h"
#include "services/process/process_signal.h"

namespace ingot {

namespace {

EndpointId endpoint_of(const ReplicaLaunch& launch) { return EndpointId(static_cast<std::uint16_t>(launch.id)); }

GroupConfig group_of(const DaemonConfig& config, const ReplicaLaunch& launch, const InstanceMemory& memory) {
  GroupConfig group;
  group.replicas = config.replicas;
  group.voters = config.voters;
  group.self = endpoint_of(launch);
  group.incarnation = Incarnation(launch.incarnation);
  group.predecessor = memory.predecessor(launch.id, !traits_of(config.agreement).votes_are_history);
  return group;
}

// Empty if there is no snapshot, or it cannot be mapped: then the replica catches up from its peers.
SnapshotBytes map_snapshot(int fd) {
  if (fd < 0) return {};
  auto mapped = Segment::map(fd, Segment::Access::kReadOnly);
  if (mapped.ok()) {
    const auto memory = std::make_shared<const Segment>(*std::move(mapped));
    return {as_view(memory->bytes()), memory};
  }
  std::fprintf(stderr, "ingotd: a replica starts without the published snapshot: %s\n",
               mapped.status().ToString().c_str());
  return {};
}

}  // namespace

absl::StatusOr<IncarnationStart> read_incarnation_start(const supervision_v1::NewIncarnation& started,
                                                        std::vector<Descriptor> fds, int endpoints) {
  if (started.endpoint() >= endpoints || fds.size() != (started.endpoint() < endpoints - 1 ? 2u : 1u)) {
    return absl::InvalidArgumentError("an incarnation of another instance");
  }
  IncarnationStart start{EndpointId(static_cast<std::uint16_t>(started.endpoint())), Incarnation(started.incarnation()),
                         std::make_shared<const Descriptor>(std::move(fds[0])), nullptr};
  if (fds.size() < 2) return start;
  auto stable = map_stable_segment(fds[1].get());
  if (!stable.ok()) return stable.status();
  start.stable = *std::move(stable);
  return start;
}

HostedReplica::HostedReplica(Segment page, std::unique_ptr<StableSegment> stable)
    : page_segment_(std::move(page)), stable_(std::move(stable)) {}

absl::StatusOr<std::unique_ptr<HostedReplica>> HostedReplica::create(const LaunchSpec& spec,
                                                                     const ReplicaLaunch& launch,
                                                                     InstanceMemory& memory,
                                                                     const ProcessParts& process) {
  auto page = Segment::map(launch.page_fd, Segment::Access::kReadWrite);
  if (!page.ok()) return page.status();
  auto stable = StableSegment::open(launch.stable_fd, endpoint_of(launch), Incarnation(launch.incarnation));
  if (!stable.ok()) return stable.status();
  auto trees = read_trees(spec.trees, spec.config, memory.view().daemon);
  if (!trees.ok()) return trees.status();
  std::unique_ptr<HostedReplica> hosted(new HostedReplica(std::move(*page), std::move(*stable)));
  hosted->wire(spec, launch, memory, *std::move(trees), process);
  return hosted;
}

void HostedReplica::wire(const LaunchSpec& spec, const ReplicaLaunch& launch, InstanceMemory& memory,
                         std::optional<TreeOptions> trees, const ProcessParts& process) {
  transport_ = make_transport(spec.config.transport, memory.inboxes(), endpoint_of(launch), memory.fabric(),
                              link_hooks());
  incarnations_ = std::make_unique<PeerIncarnations>(memory.fabric(), *transport_, memory.incarnations());
  Replica::Parts parts;
  parts.protocol.group = group_of(spec.config, launch, memory);
  parts.channels.endpoints = memory.fabric().endpoints();
  parts.channels.transport = transport_.get();
  parts.protocol.agreement = make_agreement(spec.config.agreement, parts.protocol.group);
  parts.protocol.traits = traits_of(spec.config.agreement);
  parts.state = &store_;
  parts.stable = stable_.get();
  parts.pages.own = &page();
  parts.pages.all = memory.view().replicas;
  parts.bounds.pipeline_slots = spec.shared_cores ? kPipelineSlotsSharedCore : kPipelineSlotsOwnCore;
  parts.trees = std::move(trees);
  parts.deaths.segments = memory.stable_segments();
  parts.channels.incarnations = incarnations_.get();
  parts.deaths.reported = &memory.view().daemon->deaths;
  parts.deaths.marks = process.marks;
  parts.pages.publish_state = [this](ReplicaPage& page) { publish_store(store_, page); };
  parts.op.log = [](const std::string& what) { std::fprintf(stderr, "ingotd: %s\n", what.c_str()); };
  if (spec.config.fence) {
    parts.op.fence = [daemon = memory.view().daemon](ReplicaIncarnation name) {
      return send_signal(daemon->replicas[name.id.value()], name.incarnation.value(), SIGKILL).ok();
    };
  }
  // Not in thread isolation: all replicas die at once and no published snapshot is kept (docs/agreement.md), and a
  // process with several loops must not fork.
  if (spec.config.isolation == Isolation::kProcess) {
    parts.snapshots.fork = true;
    parts.snapshots.load_in_background = true;
    parts.snapshots.helper_cores = process.helper_cores;
    parts.snapshots.published_slot = &memory.view().daemon->published_slot;
    parts.snapshots.publish = [publish = process.publish, from = parts.protocol.group.incarnation](Slot slot, int fd) {
      publish(from, slot, fd);
    };
    parts.snapshots.first = map_snapshot(spec.snapshot_fd);
  }
  replica_ = std::make_unique<Replica>(std::move(parts));
}

std::vector<LinkHooks> HostedReplica::link_hooks() {
  std::vector<LinkHooks> hooks;
  for (int i = 0; i < kEndpointsMax; ++i) {
    hooks.push_back({&page().sent[i].messages, &page().sent[i].bytes, &page().received[i].messages,
                     &page().received[i].bytes});
  }
  return hooks;
}

absl::Status HostedReplica::begin_incarnation(const IncarnationStart& start, const Fabric& fabric) {
  if (start.endpoint == transport_->self()) return absl::OkStatus();
  auto inbox = fabric.map_inbox(start.inbox->get());
  if (!inbox.ok()) return inbox.status();
  replica_->begin_incarnation({start.endpoint, start.incarnation, *std::move(inbox)}, start.stable);
  return absl::OkStatus();
}

void HostedReplica::announce(std::uint32_t incarnation) {
  page().layout_version.set(kPageLayoutVersion);
  page().incarnation.set_release(incarnation);
}

}  // namespace ingot
