// Takes a running instance over from its processes, for a new supervisor.
#include <unistd.h>

#include <utility>

#include "services/process/process_signal.h"
#include "services/supervision/instance.h"

namespace ingot {

absl::StatusOr<std::unique_ptr<Instance>> Instance::adopt(Descriptor name, HandoverState known) {
  const LaunchSpec& spec = known.spec();
  auto fabric = Fabric::attach(spec.fabric_fds);
  if (!fabric.ok()) return fabric.status();
  for (const int fd : spec.fabric_fds) known.take(fd).release();  // the fabric owns it now
  std::unique_ptr<Instance> instance(new Instance(spec.config, std::move(name), *std::move(fabric)));
  if (auto status = instance->take_over(std::move(known)); !status.ok()) return status;
  return instance;
}

absl::Status Instance::take_over(HandoverState known) {
  const LaunchSpec& spec = known.spec();
  auto segment = Segment::map(spec.daemon_page_fd, Segment::Access::kReadWrite);
  if (!segment.ok()) return segment.status();
  if (segment->as<DaemonPage>() == nullptr || static_cast<int>(spec.replicas.size()) != config_.replicas) {
    return absl::InvalidArgumentError("the processes of the instance describe another one");
  }
  page_segment_ = *std::move(segment);
  for (const ReplicaLaunch& launch : spec.replicas) {
    std::deque<StableIncarnation>& incarnations = stable_.emplace_back();
    for (const EarlierIncarnation& started : launch.earlier)
      incarnations.push_back({started.incarnation, known.take(started.stable_fd)});
    incarnations.push_back({launch.incarnation, known.take(launch.stable_fd)});
    pages_.push_back(known.take(launch.page_fd));
    ReplicaLaunch kept = launch;
    kept.earlier.clear();
    replicas_.push_back(kept);
  }
  front_end_incarnation_ = spec.front_end_incarnation;
  shared_cores_ = spec.shared_cores;
  trees_ = spec.trees;
  if (spec.snapshot_fd >= 0) keep_snapshot(Slot(spec.snapshot_slot), known.take(spec.snapshot_fd));
  page().supervisor_started.set(process_start(::getpid()));
  page().supervisor_pid.set_release(::getpid());
  page_fd_ = known.take(spec.daemon_page_fd);
  return absl::OkStatus();
}

std::vector<NewIncarnation> Instance::current_incarnations() const {
  std::vector<NewIncarnation> incarnations;
  const std::vector<int> fabric = fabric_.descriptors();  // control, inboxes, bells
  for (int endpoint = 0; endpoint < fabric_.endpoints(); ++endpoint) {
    if (incarnation(endpoint) == 1) continue;
    NewIncarnation started{endpoint, incarnation(endpoint), {fabric[1 + endpoint]}};
    if (endpoint < config_.replicas) started.fds.push_back(stable_[endpoint].back().fd.get());
    incarnations.push_back(std::move(started));
  }
  return incarnations;
}

}  // namespace ingot
