#include "services/replica_process/replica_process.h"

#include <malloc.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/planning/topology.h"
#include "services/handover/supervisor_link.h"
#include "services/instance/instance_memory.h"
#include "services/log/log.h"
#include "services/replica_process/death_watch.h"
#include "services/replica_process/deferred_reaper.h"
#include "services/replica_process/hosted_replica.h"
#include "services/replica_process/shared_core_wait.h"
#include "transport/host/event_loop.h"
#include "transport/host/huge_pages.h"

namespace ingot::inline services_replica_process {

namespace {

void warn(const absl::Status& status) {
  if (!status.ok()) log_warning(absl::StrCat("a new incarnation could not be taken up: ", status.ToString()));
}

// Best effort: if the core is no longer available, the loop runs elsewhere and its memory is less local.
void pin_to(int core) { bind_this_thread({CoreId(static_cast<std::uint16_t>(core))}).IgnoreError(); }

WaitOptions wait_options(const LaunchSpec& spec, int core) {
  if (!spec.shared_cores) return WaitOptions::own_core();
  const auto here = std::count_if(spec.replicas.begin(), spec.replicas.end(),
                                  [&](const ReplicaLaunch& launch) { return launch.core == core; });
  const int loops = spec.config.isolation == Isolation::kThread ? 1 : static_cast<int>(here);
  return shared_core_wait(std::max(loops, 1));
}

// One event loop and the replicas that it runs.
class HostedLoop {
 public:
  // To be called on the thread that will run the loop: its memory is then local to the core, and a stable segment's
  // writer is one thread for the segment's whole life.
  absl::Status build(const LaunchSpec& spec, const std::vector<ReplicaLaunch>& launches, InstanceMemory& memory,
                     ProcessParts process) {
    pin_to(launches.front().core);
    if (spec.replica >= 0) watch_deaths(spec, memory);  // replicas of one process die together
    process.marks = watch_ ? &watch_->deaths() : nullptr;
    for (const ReplicaLaunch& launch : launches) {
      auto hosted = HostedReplica::create(spec, launch, memory, process);
      if (!hosted.ok()) return hosted.status();
      replicas_.push_back(std::move(*hosted));
    }
    ReplicaPage& page = replicas_.front()->page();  // the loop's counters are on its first replica's page
    LoopCounters counters{&page[ReplicaCounter::kLoopWakeups], &page[ReplicaCounter::kLoopSleeps],
                          &page[ReplicaCounter::kLoopPolls]};
    auto loop = EventLoop::create(wait_options(spec, launches.front().core), counters);
    if (!loop.ok()) return loop.status();
    loop_ = std::move(*loop);
    auto bell = Doorbell::create();
    if (!bell.ok()) return bell.status();
    bell_.emplace(*std::move(bell));
    loop_->watch(bell_->fd(), [this, &memory] { change_incarnations(memory.fabric()); });
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const EndpointId self(static_cast<std::uint16_t>(launches[i].id));
      loop_->add(replicas_[i]->replica(), memory.fabric(), self);
      replicas_[i]->announce(launches[i].incarnation);
    }
    return absl::OkStatus();
  }

  EventLoop& loop() { return *loop_; }
  ReplicaPage& page() { return replicas_.front()->page(); }
  bool built() const { return loop_ != nullptr; }

  // Callable from any thread: passes the change to the replicas on the loop's thread. REQUIRES: built().
  void announce(IncarnationChange change) {
    const bool begins = change.kind == IncarnationChange::Kind::kBegins;
    if (watch_ && begins && change.stable != nullptr) watch(change.endpoint, {change.incarnation, change.stable});
    {
      absl::MutexLock lock(&mutex_);
      changes_.push_back(std::move(change));
    }
    bell_->ring();
  }

 private:
  void watch(EndpointId replica, const IncarnationSegment& started) {
    watch_->watch(replica, started.incarnation, started.memory->bytes(), started.memory);
  }

  void watch_deaths(const LaunchSpec& spec, InstanceMemory& memory) {
    const EndpointId self(static_cast<std::uint16_t>(spec.replica));
    watch_.emplace([&memory, self](EndpointId, Incarnation) { memory.fabric().notify(self); });
    for (std::uint16_t id = 0; id < memory.stable_segments().size(); ++id) {
      const IncarnationSegments& segments = memory.stable_segments()[id];
      if (EndpointId(id) != self && !segments.empty() && segments.back().memory != nullptr)
        watch(EndpointId(id), segments.back());
    }
  }

  // An incarnation whose inbox this replica cannot map is lost to it; the other replicas still exchange messages with
  // it.
  void change_incarnations(const Fabric& fabric) {
    bell_->drain();
    std::vector<IncarnationChange> changes;
    {
      absl::MutexLock lock(&mutex_);
      changes.swap(changes_);
    }
    for (const IncarnationChange& change : changes) {
      for (auto& replica : replicas_) warn(replica->change_incarnation(change, fabric));
    }
  }

  absl::Mutex mutex_;
  std::vector<IncarnationChange> changes_ ABSL_GUARDED_BY(mutex_);
  std::optional<Doorbell> bell_;
  std::optional<DeathWatch> watch_;
  std::vector<std::unique_ptr<HostedReplica>> replicas_;
  std::unique_ptr<EventLoop> loop_;
};

// Groups the replicas by the loop that runs them: in thread isolation the replicas of one core share a loop.
std::vector<std::vector<ReplicaLaunch>> group_by_core(const LaunchSpec& spec) {
  std::map<int, std::vector<ReplicaLaunch>> by_core;
  for (const ReplicaLaunch& launch : spec.replicas) {
    if (spec.replica < 0 || launch.id == spec.replica) by_core[launch.core].push_back(launch);
  }
  std::vector<std::vector<ReplicaLaunch>> groups;
  for (auto& [core, launches] : by_core) groups.push_back(std::move(launches));
  return groups;
}

// All loops of the process. Each is built and run on a thread of its own, the first one on the caller's thread.
class HostedLoops {
 public:
  HostedLoops(const LaunchSpec& spec, InstanceMemory& memory, ProcessParts process)
      : spec_(spec),
        memory_(memory),
        process_(std::move(process)),
        groups_(group_by_core(spec)),
        loops_(groups_.size()) {}

  absl::Status start() {
    std::vector<std::future<absl::Status>> others;
    absl::Status status;
    for (std::size_t i = 1; i < loops_.size() && status.ok(); ++i) {
      std::promise<absl::Status> outcome;
      auto future = outcome.get_future();
      try {
        threads_.emplace_back(
            [this, i, outcome = std::move(outcome)]() mutable { build_and_run(i, std::move(outcome)); });
        others.push_back(std::move(future));
      } catch (const std::system_error& error) {
        status = absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
      }
    }
    if (status.ok()) status = loops_.front().build(spec_, groups_.front(), memory_, process_);
    for (auto& other : others) status.Update(other.get());
    return status;
  }

  EventLoop& first() { return loops_.front().loop(); }
  ReplicaPage& first_page() { return loops_.front().page(); }

  void change_incarnation(const SupervisionMessage& message, std::vector<Descriptor> fds) {
    auto change = read_incarnation_change(message, std::move(fds), spec_.config);
    if (!change.ok()) return warn(change.status());
    for (HostedLoop& each : loops_) each.announce(*change);
  }

  void stop() {
    for (HostedLoop& each : loops_) {
      if (each.built()) each.loop().stop();
    }
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void build_and_run(std::size_t i, std::promise<absl::Status> outcome) {
    const absl::Status status = loops_[i].build(spec_, groups_[i], memory_, process_);
    outcome.set_value(status);
    if (status.ok()) loops_[i].loop().run();
  }

  const LaunchSpec& spec_;
  InstanceMemory& memory_;
  const ProcessParts process_;
  const std::vector<std::vector<ReplicaLaunch>> groups_;
  std::vector<HostedLoop> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace

int run_replica_process(LaunchSpec spec) {
  const auto link = SupervisorLink::open(spec, spec.replica < 0 ? "replicas" : absl::StrCat("replica/", spec.replica));
  if (link == nullptr) return 1;
  const std::vector<CoreId> helper_cores = cores_without_loops(spec.replicas);
  std::optional<DeferredReaper> reaper;
  if (spec.replica >= 0) {
    ::mallopt(M_ARENA_MAX, 1);  // only the first arena has huge pages (services/launch/child_process.cc)
    forbid_huge_pages();        // as long as the state is small (kHugePagesFromBytes)
    bind_this_thread(helper_cores).IgnoreError();  // for the reaper, which inherits it; build() pins the loop later
    reaper.emplace();  // only here: in thread isolation no replica survives the process
  }
  auto memory = InstanceMemory::attach(spec);
  if (!memory.ok()) {
    link->send_failed(memory.status());
    return 1;
  }
  const PublishSnapshot publish = [&link](Incarnation from, Slot slot, int fd) {
    const int fds[] = {fd};
    link->send(snapshot_message(slot, from), fds).IgnoreError();
  };
  HostedLoops loops(spec, **memory, {publish, helper_cores});
  if (auto status = loops.start(); !status.ok()) {
    link->send_failed(status);
    loops.stop();
    loops.join();
    return 1;
  }
  const LostLinesShown lost_lines(loops.first_page().log_lines_lost);
  spec.close_descriptors();
  (*memory)->forget_stable_segments();
  link->watch(loops.first(), [&](const SupervisionMessage& message, std::vector<Descriptor> fds) {
    if (message.has_incarnation() || message.has_kept()) return loops.change_incarnation(message, std::move(fds));
    if (message.has_leave()) loops.stop();
  });
  link->send_ready();
  loops.first().run();
  loops.join();
  return 0;
}

}  // namespace ingot::services_replica_process
