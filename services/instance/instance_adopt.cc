// Takes a running instance over from its processes, for a new supervisor.
#include <algorithm>
#include <utility>

#include "services/instance/instance.h"
#include "services/sockets/tcp_listener.h"

namespace ingot::inline services_instance {

absl::StatusOr<std::unique_ptr<Instance>> Instance::adopt(Descriptor name, HandoverState known) {
  const LaunchSpec& spec = known.spec();
  auto fabric = Fabric::attach(spec.fabric_fds);
  if (!fabric.ok()) return fabric.status();
  for (const int fd : spec.fabric_fds) known.take(fd).release();  // the fabric owns it now
  InstanceTrace trace(spec.config.name, spec.trace_folders);
  std::unique_ptr<Instance> instance(
      new Instance(spec.config, std::move(name), *std::move(fabric), std::move(trace)));
  if (auto status = instance->take_over(std::move(known)); !status.ok()) return status;
  return instance;
}

absl::Status Instance::take_over(HandoverState known) {
  const LaunchSpec& spec = known.spec();
  if (auto status = listen_again(spec.listen_fd); !status.ok()) return status;
  auto segment = Segment::map(spec.daemon_page_fd, Segment::Access::kReadWrite);
  if (!segment.ok()) return segment.status();
  if (segment->as<DaemonPage>() == nullptr || static_cast<int>(spec.replicas.size()) != config_.replicas) {
    return absl::InvalidArgumentError("the processes of the instance describe another one");
  }
  page_segment_ = *std::move(segment);
  page_ = page_segment_.as<DaemonPage>();
  for (const ReplicaLaunch& launch : spec.replicas) {
    std::deque<StableIncarnation>& incarnations = stable_.emplace_back();
    for (const EarlierIncarnation& started : launch.earlier)
      incarnations.push_back({started.incarnation, known.take(started.stable_fd)});
    incarnations.push_back({launch.incarnation, known.take(launch.stable_fd)});
    // The page shows an incarnation that no process here was told of: all that knew of it are dead. What it stored is
    // unknown, and its number is not used again.
    const auto newest = static_cast<std::uint32_t>(page().replicas[launch.id].incarnation.get());
    if (newest > launch.incarnation) incarnations.push_back({newest, Descriptor()});
    releases_.push_back(1);
    pages_.push_back(known.take(launch.page_fd));
    ReplicaLaunch kept = launch;
    kept.earlier.clear();
    replicas_.push_back(kept);
  }
  front_end_incarnation_ =
      std::max(spec.front_end_incarnation, static_cast<std::uint32_t>(page().front_end.incarnation.get()));
  shared_cores_ = spec.shared_cores;
  trees_ = spec.trees;
  if (spec.snapshot_fd >= 0) hold_snapshot(Slot(spec.snapshot_slot), known.take(spec.snapshot_fd));
  take_over_sockets(known);
  take_over_view(known);
  note_this_supervisor();
  page_fd_ = known.take(spec.daemon_page_fd);
  note_kept();
  left_trace_ = true;
  return absl::OkStatus();
}

}  // namespace ingot::services_instance
