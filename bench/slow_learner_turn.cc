#include "bench/slow_learner_turn.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "services/ingot_load/run_state.h"

namespace ingot::bench {
namespace {

using load::now_ns;
using std::chrono::milliseconds;

constexpr auto kSlowStopped = milliseconds(9);
constexpr auto kSlowRunning = milliseconds(1);
constexpr auto kSettlePatience = std::chrono::seconds(60);
constexpr auto kCalmPoll = milliseconds(20);
constexpr int kCalmPolls = 50;  // consecutive polls that find all caught up, before an undisturbed phase
constexpr std::uint64_t kLagSlots = 64;

// Stops or slows a process for as long as the object lives.
class Trouble {
 public:
  Trouble(const std::string& kind, pid_t pid) : pid_(pid) {
    ::kill(pid_, SIGSTOP);
    if (kind == "slow") thread_.emplace([this] { slow_down(); });
  }
  ~Trouble() {
    over_.store(true);
    if (thread_) thread_->join();
    ::kill(pid_, SIGCONT);
  }

 private:
  void slow_down() {
    while (!over_.load()) {
      ::kill(pid_, SIGSTOP);
      std::this_thread::sleep_for(kSlowStopped);
      ::kill(pid_, SIGCONT);
      std::this_thread::sleep_for(kSlowRunning);
    }
  }

  const pid_t pid_;
  std::atomic<bool> over_{false};
  std::optional<std::thread> thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LearnerGroup>> LearnerGroup::start(const Options& options,
                                                                  const std::string& agreement) {
  const auto port = free_port();
  const auto metrics_port = free_port();
  if (!port.ok()) return port.status();
  if (!metrics_port.ok()) return metrics_port.status();
  const std::string endpoint = absl::StrCat("127.0.0.1:", *port);
  const std::string name = absl::StrCat("slow-learner-", ::getpid(), "-", agreement);
  std::vector<std::string> command = {options.ingotd, "--listen=" + endpoint,
                                      absl::StrCat("--metrics-listen=127.0.0.1:", *metrics_port), "--name=" + name,
                                      absl::StrCat("--replicas=", options.replicas), "--agreement=" + agreement};
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  auto server = ChildServer::start(command, endpoint);
  if (!server.ok()) return server.status();
  std::unique_ptr<LearnerGroup> group(new LearnerGroup(*std::move(server)));
  group->load_.emplace(endpoint, options.clients);
  const std::uint64_t end_ns = now_ns() + std::chrono::nanoseconds(kSettlePatience).count();
  absl::StatusOr<WatchedInstance> pages = absl::NotFoundError("");
  while (!(pages = WatchedInstance::attach(group->server_.pid(), name, options.replicas)).ok() && now_ns() < end_ns) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  if (!pages.ok()) return pages.status();
  group->pages_ = *std::move(pages);
  return group;
}

absl::StatusOr<Turn> LearnerGroup::turn(const std::string& kind, std::chrono::nanoseconds phase) {
  const auto learner = wait_for_learner();
  if (!learner.ok()) return learner.status();
  Turn turn;
  turn.before = count(phase, *learner, turn.bins_per_s);
  turn.troubled_from = turn.bins_per_s.size();
  {
    const Trouble trouble(kind, pages_->pid(*learner));
    turn.troubled = count(2 * phase, *learner, turn.bins_per_s);
  }
  // The learner has caught up before the next phase begins, and again has no role.
  const auto same = wait_for_learner();
  if (!same.ok()) return same.status();
  std::vector<double> unused;
  turn.after = count(phase, *same, unused);
  return turn;
}

// Returns a replica without a role, once all replicas have caught up.
absl::StatusOr<int> LearnerGroup::wait_for_learner() const {
  const std::uint64_t end_ns = now_ns() + std::chrono::nanoseconds(kSettlePatience).count();
  while (now_ns() < end_ns) {
    std::this_thread::sleep_for(kCalmPoll);
    const std::uint64_t before = load_->acknowledged();
    int settled = 0;
    for (; settled < kCalmPolls && whole(); ++settled) std::this_thread::sleep_for(kCalmPoll);
    if (settled < kCalmPolls || load_->acknowledged() == before) continue;
    for (int id = pages_->replicas() - 1; id >= 0; --id) {
      const auto role = static_cast<Role>(pages_->counter(id, ReplicaCounter::kRole));
      if (role == Role::kReplica) return id;
    }
  }
  return absl::DeadlineExceededError("the group did not become whole");
}

// 2PC has no acceptor, so roles cannot tell here.
bool LearnerGroup::whole() const {
  const std::uint64_t most = pages_->greatest(ReplicaCounter::kAppliedSlots);
  for (int id = 0; id < pages_->replicas(); ++id) {
    if (pages_->state(id) != ProcessState::kUp) return false;
    if (pages_->counter(id, ReplicaCounter::kAppliedSlots) + kLagSlots < most) return false;
  }
  return true;
}

std::uint64_t LearnerGroup::applied_by_others(int learner) const {
  std::uint64_t applied = 0;
  for (int id = 0; id < pages_->replicas(); ++id) {
    if (id != learner) applied = std::max(applied, pages_->counter(id, ReplicaCounter::kAppliedCommands));
  }
  return applied;
}

std::uint64_t LearnerGroup::snapshots_made() const {
  std::uint64_t made = 0;
  for (int id = 0; id < pages_->replicas(); ++id) made += pages_->counter(id, ReplicaCounter::kSnapshotsMade);
  return made;
}

Phase LearnerGroup::count(std::chrono::nanoseconds phase, int learner, std::vector<double>& bins_per_s) const {
  const std::uint64_t start_ns = now_ns();
  const std::uint64_t first = applied_by_others(learner), first_snapshots = snapshots_made();
  std::uint64_t bin_ns = start_ns, bin_first = first;
  while (now_ns() < start_ns + static_cast<std::uint64_t>(phase.count())) {
    std::this_thread::sleep_for(kBin);
    const std::uint64_t now = now_ns(), applied = applied_by_others(learner);
    bins_per_s.push_back(static_cast<double>(applied - bin_first) * 1e9 / static_cast<double>(now - bin_ns));
    bin_ns = now;
    bin_first = applied;
  }
  const double seconds = static_cast<double>(bin_ns - start_ns) * 1e-9;
  return {static_cast<double>(bin_first - first) / seconds,
          static_cast<double>(snapshots_made() - first_snapshots) / seconds};
}

}  // namespace ingot::bench
