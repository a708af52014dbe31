#include "bench/failover_trial.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/kv_client.h"
#include "services/ingot_load/run_state.h"

namespace ingot::bench {
namespace {

using load::now_ns;
using std::chrono::milliseconds;

constexpr auto kStartPatience = std::chrono::seconds(60);
constexpr auto kWholePatience = std::chrono::seconds(300);  // a joining replica may have to fetch a large state
constexpr auto kCommitPatience = std::chrono::seconds(30);
constexpr auto kPublishPatience = std::chrono::seconds(600);
constexpr auto kRefillPatience = std::chrono::seconds(2);
constexpr auto kUpPatience = std::chrono::seconds(60);
// All replicas up without interruption before the next fault. Longer than the uptime beyond which a restart is not
// delayed.
constexpr auto kCalm = milliseconds(2500);
// And up to this much more, at random: else all trials would meet the same phase of the snapshots' cycle.
constexpr auto kCalmSpread = milliseconds(1500);
constexpr auto kPollInterval = std::chrono::microseconds(20);
constexpr auto kSlowPollInterval = std::chrono::microseconds(200);  // once all times but the stall are known
constexpr std::uint64_t kLagSlots = 256;

template <typename Condition>
bool wait_for(std::chrono::nanoseconds patience, Condition condition) {
  const std::uint64_t end_ns = now_ns() + static_cast<std::uint64_t>(patience.count());
  while (!condition()) {
    if (now_ns() > end_ns) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

double ms_between(std::uint64_t from_ns, std::uint64_t to_ns) { return static_cast<double>(to_ns - from_ns) * 1e-6; }

// Polls the pages, and notes when each condition is first true.
class Watch {
 public:
  Watch(const WatchedInstance& pages, const std::vector<int>& victims, const std::vector<int>& old_roles)
      : pages_(pages),
        victims_(victims),
        old_roles_(old_roles),
        deaths_(pages.deaths()),
        stops_(pages.doubted_stops()),
        old_ballot_(pages.greatest(ReplicaCounter::kBallot)),
        old_epoch_(pages.greatest(ReplicaCounter::kEpoch)) {
    remember_past();
  }

  void begin(std::uint64_t start_ns) { start_ns_ = last_ns_ = last_applied_ns_ = start_ns; }

  // Returns whether a slot has been committed.
  bool poll(bool killed) {
    const std::uint64_t now = now_ns();
    note_stall(now);
    if (result_.committed == 0) result_.poll = std::max(result_.poll, ms_between(last_ns_, now));
    last_ns_ = now;
    if (killed) {
      first(result_.marked,
            std::all_of(victims_.begin(), victims_.end(), [&](int v) { return pages_.marked_dead(v); }));
    }
    const std::uint64_t reports = killed ? pages_.deaths() - deaths_ : pages_.doubted_stops() - stops_;
    first(result_.reported, reports >= victims_.size());
    if (result_.committed > 0) return true;
    first(result_.changed, without_victims());
    if (result_.changed == 0) {
      remember_past();
      return false;
    }
    first(result_.committed, applied_by_survivors() > applied_);
    return result_.committed > 0;
  }

  Failover& result() { return result_; }
  std::int64_t revision() const { return static_cast<std::int64_t>(revision_); }
  std::uint64_t start_ns() const { return start_ns_; }

 private:
  void first(double& when, bool now) {
    if (now && when == 0) when = std::max(1e-6, ms_between(start_ns_, last_ns_));
  }

  void note_stall(std::uint64_t now) {
    const std::uint64_t applied = applied_by_survivors();
    if (applied > last_applied_) {
      last_applied_ = applied;
      last_applied_ns_ = now;
    }
    result_.stalled = std::max(result_.stalled, ms_between(last_applied_ns_, now));
  }

  void remember_past() {
    applied_ = pages_.greatest(ReplicaCounter::kAppliedSlots);
    revision_ = pages_.greatest(ReplicaCounter::kStoreRevision);
  }

  bool is_victim(int replica) const { return std::find(victims_.begin(), victims_.end(), replica) != victims_.end(); }

  std::uint64_t applied_by_survivors() const {
    std::uint64_t applied = 0;
    for (int id = 0; id < pages_.replicas(); ++id) {
      if (!is_victim(id)) applied = std::max(applied, pages_.counter(id, ReplicaCounter::kAppliedSlots));
    }
    return applied;
  }

  // Decided by the configuration's numbers, not by ids: with three replicas and two deaths a victim's next incarnation
  // may get its former role again.
  bool without_victims() const {
    for (int id = 0; id < pages_.replicas(); ++id) {
      if (is_victim(id)) continue;
      const bool leader_new = pages_.counter(id, ReplicaCounter::kBallot) > old_ballot_;
      const bool acceptor_new = pages_.counter(id, ReplicaCounter::kEpoch) > old_epoch_;
      if ((leader_new || !is_victim(old_roles_[0])) && (acceptor_new || !is_victim(old_roles_[1]))) return true;
    }
    return false;
  }

  const WatchedInstance& pages_;
  const std::vector<int> victims_;
  const std::vector<int> old_roles_;  // leader, acceptor
  const std::uint64_t deaths_;
  const std::uint64_t stops_;
  const std::uint64_t old_ballot_;  // a leader's number
  const std::uint64_t old_epoch_;   // an acceptor's
  std::uint64_t applied_ = 0;   // by any replica, before the configuration changed
  std::uint64_t revision_ = 0;  // likewise
  std::uint64_t start_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t last_applied_ = 0;  // by survivors, at any time
  std::uint64_t last_applied_ns_ = 0;
  Failover result_;
};

// The restarted incarnations use the survivors' cores, so the stall may still grow; frequent polls would use them, too.
void watch_refill(Watch& watch, const WatchedInstance& pages) {
  const std::uint64_t end_ns = now_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(kUpPatience).count());
  while (now_ns() < end_ns) {
    watch.poll(true);
    const bool reported = watch.result().reported > 0;
    if (reported && pages.all_up()) return;
    std::this_thread::sleep_for(reported ? kSlowPollInterval : kPollInterval);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FailoverDaemon>> FailoverDaemon::start(const Options& options) {
  static int started = 0;
  const auto port = free_port();
  const auto metrics_port = free_port();
  if (!port.ok()) return port.status();
  if (!metrics_port.ok()) return metrics_port.status();
  const std::string name = absl::StrCat("failover-", ::getpid(), "-", ++started);
  const std::string endpoint = absl::StrCat("127.0.0.1:", *port);
  std::vector<std::string> command = {options.ingotd, "--listen=" + endpoint,
                                      absl::StrCat("--metrics-listen=127.0.0.1:", *metrics_port), "--name=" + name,
                                      absl::StrCat("--replicas=", options.replicas)};
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  auto server = ChildServer::start(command, endpoint);
  if (!server.ok()) return server.status();
  std::unique_ptr<FailoverDaemon> daemon(new FailoverDaemon(options, name, *std::move(server)));
  if (auto status = fill_mib(daemon->server_, options.state_mib); !status.ok()) return status;
  if (auto status = daemon->wait_until_published(); !status.ok()) return status;
  return daemon;
}

// The load fills the log until a snapshot is due.
absl::Status FailoverDaemon::wait_until_published() {
  const bool attached = wait_for(kStartPatience, [&] { return attach().ok() || !server_.running(); });
  if (!server_.running()) return absl::UnavailableError("the server has ended");
  if (!attached) return attach();
  const std::uint64_t filled = pages_->greatest(ReplicaCounter::kAppliedSlots);
  load_.emplace(server_.endpoint(), options_.clients);
  const bool published =
      wait_for(kPublishPatience, [&] { return pages_->published_slot() >= filled || !server_.running(); });
  if (!server_.running()) return absl::UnavailableError("the server has ended");
  if (!published)
    return absl::DeadlineExceededError("no snapshot was published that holds what the store was filled with");
  return absl::OkStatus();
}

// Attaches to the newest incarnation of every replica.
absl::Status FailoverDaemon::attach() {
  auto pages = WatchedInstance::attach(server_.pid(), name_, options_.replicas);
  if (!pages.ok()) return pages.status();
  pages_ = *std::move(pages);
  return absl::OkStatus();
}

absl::StatusOr<Roles> FailoverDaemon::wait_until_calm() {
  static std::minstd_rand random{std::random_device()()};
  const auto calm_ms = kCalm.count() + std::uniform_int_distribution<>(0, kCalmSpread.count())(random);
  Roles roles;
  std::uint64_t since_ns = 0;
  const bool calm = wait_for(kWholePatience, [&] {
    const Roles now = pages_->settled(kLagSlots);
    if (since_ns == 0 || now.leader < 0 || now.leader != roles.leader || now.acceptor != roles.acceptor) {
      roles = now;
      since_ns = now_ns();
    }
    return roles.leader >= 0 && ms_between(since_ns, now_ns()) > static_cast<double>(calm_ms) &&
           load_->acknowledged() > 0;
  });
  if (!calm) return absl::DeadlineExceededError("the group did not become whole and calm");
  if (auto status = attach(); !status.ok()) return status;
  return roles;
}

absl::StatusOr<Failover> FailoverDaemon::fail(Trouble trouble, Target target) {
  const auto roles = wait_until_calm();
  if (!roles.ok()) return roles.status();
  std::vector<int> victims;
  if (target != Target::kAcceptor) victims.push_back(roles->leader);
  if (target != Target::kLeader) victims.push_back(roles->acceptor);
  Watch watch(*pages_, victims, {roles->leader, roles->acceptor});
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // ns: the default, 50 us, would delay every poll
  std::vector<pid_t> pids;
  for (const int victim : victims) pids.push_back(pages_->pid(victim));
  watch.result().store_mib = static_cast<double>(pages_->greatest(ReplicaCounter::kStoreBytes)) / (1 << 20);
  watch.begin(now_ns());
  for (const pid_t pid : pids) ::kill(pid, trouble == Trouble::kKill ? SIGKILL : SIGSTOP);
  const std::uint64_t end_ns = now_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(kCommitPatience).count());
  while (!watch.poll(trouble == Trouble::kKill) && now_ns() < end_ns) std::this_thread::sleep_for(kPollInterval);
  Failover& result = watch.result();
  std::uint64_t acknowledged_ns = 0;
  const auto acknowledged = [&] { return (acknowledged_ns = load_->acknowledged_ns_above(watch.revision())) != 0; };
  const bool done = result.committed > 0 && wait_for(kCommitPatience, acknowledged);
  if (trouble == Trouble::kStop) {
    for (const pid_t pid : pids) ::kill(pid, SIGCONT);
  } else {
    watch_refill(watch, *pages_);
  }
  if (!done) return absl::DeadlineExceededError("nothing was committed for 30 s");
  result.acknowledged = ms_between(watch.start_ns(), acknowledged_ns);
  return result;
}

bool FailoverDaemon::refills() {
  return wait_for(kRefillPatience, [&] {
    for (int id = 0; id < pages_->replicas(); ++id) {
      if (pages_->state(id) == ProcessState::kDead) return false;
    }
    return true;
  });
}

}  // namespace ingot::bench
