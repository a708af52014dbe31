#include "services/replica_process/hosted_replica.h"

#include <signal.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/wire.h"
#include "replication/agreement/registry.h"
#include "replication/pages/page_access.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/store/gauges.h"
#include "services/launch/process_signal.h"
#include "services/log/log.h"

namespace ingot::inline services_replica_process {

namespace {

EndpointId endpoint_of(const ReplicaLaunch& launch) { return EndpointId(static_cast<std::uint16_t>(launch.id)); }

template <typename Message>
EndpointId endpoint_of(const Message& message) {
  return EndpointId(static_cast<std::uint16_t>(message.endpoint()));
}

absl::Status foreign() { return absl::InvalidArgumentError("an incarnation of another instance"); }

GroupConfig group_of(const DaemonConfig& config, const ReplicaLaunch& launch, const InstanceMemory& memory) {
  GroupConfig group;
  group.replicas = config.replicas;
  group.voters = config.voters;
  group.self = endpoint_of(launch);
  group.incarnation = Incarnation(launch.incarnation);
  group.predecessor = memory.predecessor(launch.id, !traits_of(config.agreement).votes_are_history);
  return group;
}

// A group that was restored has no log of what came before its first snapshot: no replica may take part without it.
bool is_restored(const LaunchSpec& spec) { return !spec.config.restore.empty(); }

// Empty if there is no snapshot, or it cannot be mapped: then the replica catches up from its peers.
SnapshotBytes map_snapshot(int fd) {
  if (fd < 0) return {};
  auto mapped = Segment::map(fd, Segment::Access::kReadOnly);
  if (mapped.ok()) {
    const auto memory = std::make_shared<const Segment>(*std::move(mapped));
    return {as_view(memory->bytes()), memory};
  }
  log_warning(absl::StrCat("a replica starts without the published snapshot: ", mapped.status().ToString()));
  return {};
}

}  // namespace

absl::StatusOr<IncarnationChange> read_incarnation_change(const SupervisionMessage& message,
                                                          std::vector<Descriptor> fds, const DaemonConfig& config) {
  using Kind = IncarnationChange::Kind;
  const int replicas = config.replicas;
  if (message.has_kept()) {
    if (message.kept().endpoint() >= replicas) return foreign();
    return IncarnationChange{
        .kind = Kind::kReleased, .endpoint = endpoint_of(message.kept()), .kept = kept_of(message.kept())};
  }
  const supervision_v1::NewIncarnation& started = message.incarnation();
  const bool replica = started.endpoint() < replicas;
  const bool publisher = has_view(config) && started.endpoint() == view_endpoint(config);
  if ((started.endpoint() > replicas && !publisher) || (started.ended() && !replica)) return foreign();
  const auto inboxes = publisher ? 1u : static_cast<std::size_t>(front_end_endpoints(config));
  if (fds.size() != (!replica ? inboxes : started.ended() ? 1u : 2u)) return foreign();
  IncarnationChange change{.kind = started.ended() ? Kind::kEnded : Kind::kBegins,
                           .endpoint = endpoint_of(started),
                           .incarnation = Incarnation(started.incarnation()),
                           .kept = kept_of(started)};
  if (replica) {
    auto stable = map_stable_segment(fds.back().get());
    if (stable.ok())
      change.stable = *std::move(stable);
    else
      log_warning(absl::StrCat("a stable segment could not be mapped: ", stable.status().ToString()));
  }
  if (replica) fds.pop_back();
  if (!started.ended()) change.inboxes = std::make_shared<const std::vector<Descriptor>>(std::move(fds));
  return change;
}

HostedReplica::HostedReplica(Segment page, std::unique_ptr<StableSegment> stable, kv::Quota quota)
    : page_segment_(std::move(page)), stable_(std::move(stable)), store_(quota) {}

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
  std::unique_ptr<HostedReplica> hosted(new HostedReplica(std::move(*page), std::move(*stable),
                                                          kv::Quota(spec.config.quota_backend_bytes)));
  begin_incarnation(hosted->page());
  hosted->wire(spec, launch, memory, *std::move(trees), process);
  if (is_restored(spec) && hosted->replica_->applier().applied() == Slot(0)) {
    return absl::ResourceExhaustedError("the snapshot of the restored instance cannot be loaded");
  }
  return hosted;
}

void HostedReplica::wire(const LaunchSpec& spec, const ReplicaLaunch& launch, InstanceMemory& memory,
                         std::optional<TreeOptions> trees, const ProcessParts& process) {
  replicas_ = spec.config.replicas;
  transport_ = make_transport(spec.config.transport, memory.inboxes(), endpoint_of(launch), memory.fabric(),
                              link_hooks());
  incarnations_ = std::make_unique<PeerIncarnations>(memory.fabric(), *transport_, memory.incarnations());
  Replica::Parts parts;
  parts.protocol.group = group_of(spec.config, launch, memory);
  parts.channels.endpoints = memory.fabric().endpoints();
  parts.channels.transport = transport_.get();
  parts.protocol.agreement = make_agreement(spec.config.agreement, parts.protocol.group);
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
  parts.deaths.stops = memory.view().daemon;
  parts.pages.publish_state = [this](ReplicaPage& page) { publish_store(store_, page); };
  parts.op.log = log_warning;
  if (spec.config.fence) {
    parts.op.fence = [daemon = memory.view().daemon](ReplicaIncarnation name) {
      return send_signal(daemon->replicas[name.id.value()], name.incarnation.value(), SIGKILL).ok();
    };
  }
  if (spec.config.isolation == Isolation::kProcess || is_restored(spec)) {
    parts.snapshots.first = map_snapshot(spec.snapshot_fd);
  }
  // Not in thread isolation: all replicas die at once and no published snapshot is kept (docs/agreement.md), and a
  // process with several loops must not fork.
  if (spec.config.isolation == Isolation::kProcess) {
    parts.snapshots.fork = true;
    parts.snapshots.load_in_background = true;
    parts.snapshots.load_first_at_once = is_restored(spec);
    parts.snapshots.helper_cores = process.helper_cores;
    parts.snapshots.published_slot = &memory.view().daemon->published_slot;
    parts.snapshots.kept_segments_state = &memory.view().daemon->kept_segments_state;
    parts.snapshots.publish = [publish = process.publish, from = parts.protocol.group.incarnation](Slot slot, int fd) {
      publish(from, slot, fd);
    };
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

absl::Status HostedReplica::change_incarnation(const IncarnationChange& change, const Fabric& fabric) {
  using Kind = IncarnationChange::Kind;
  absl::Status status;
  const ReplicaIncarnation name{change.endpoint, change.incarnation};
  const bool replica = change.endpoint.value() < replicas_;
  if (change.endpoint == transport_->self() && change.kind != Kind::kReleased) return status;
  for (std::size_t i = 0; change.kind == Kind::kBegins && i < change.inboxes->size(); ++i) {
    auto inbox = fabric.map_inbox((*change.inboxes)[i].get());
    status.Update(inbox.status());
    const EndpointId endpoint(static_cast<std::uint16_t>(name.id.value() + i));
    if (inbox.ok()) replica_->begin_incarnation({endpoint, name.incarnation, *std::move(inbox)}, change.stable);
  }
  if (!replica) return status;
  if (change.kind == Kind::kEnded || !status.ok()) replica_->note_ended(name, change.stable);
  replica_->keep_segments(name.id, change.kept);
  return status;
}

void HostedReplica::announce(std::uint32_t incarnation) {
  page().layout_version.set(kPageLayoutVersion);
  announce_incarnation(page(), Incarnation(incarnation));
}

}  // namespace ingot::services_replica_process
