#include "tests/replication/agreement/failover.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "tests/replication/agreement/seeded_run.h"
#include "tests/replication/agreement/trace.h"

namespace ingot::testing {

namespace {

constexpr std::uint64_t kCommandBytesMax = 100;  // besides its number

AgreementBounds random_bounds(Prng& prng) {
  AgreementBounds bounds;
  if (prng.chance(0.5)) bounds.window_slots = 1 + static_cast<int>(prng.below(16));
  if (prng.chance(0.5)) bounds.window_bytes = 1 + prng.below(3 * kCommandBytesMax);
  bounds.suspect_ticks = 2 + static_cast<int>(prng.below(20));
  return bounds;
}

// The parameters of a run and its group, drawn from its seed.
struct FaultSchedule {
  explicit FaultSchedule(const FailoverOptions& options)
      : prng(options.seed),
        loss(prng.chance(0.5) ? 0.0 : 0.1 * prng.unit()),
        kill(0.02 * prng.unit()),
        restart(0.002 + 0.03 * prng.unit()),
        pause(prng.chance(0.5) ? 0.0 : 0.02 * prng.unit()),
        tick(0.02 + 0.3 * prng.unit()),
        group{options.kind, options.replicas, options.voters, random_bounds(prng), true, prng.chance(0.2)} {}

  Prng prng;
  double loss;
  double kill;
  double restart;
  double pause;
  double tick;
  GroupOptions group;
};

class Failover : private SeededRun {
 public:
  explicit Failover(const FailoverOptions& options) : Failover(options, FaultSchedule(options)) {}

  Failover(const FailoverOptions& options, const FaultSchedule& schedule)
      : SeededRun(schedule.prng, schedule.group), options_(options), schedule_(schedule) {
    group_.salvage_at_once = false;
    group_.observe = [this](int replica, const Effects& effects) { observe(replica, effects); };
    group_.loses = [this](int, int to) { return !group_.alive(to) || (!calm_ && prng_.chance(schedule_.loss)); };
  }

  FailoverResult run() {
    for (int step = 0; step < options_.steps && violation().empty(); ++step) random_step();
    calm_ = true;
    if (violation().empty() && !recover()) {
      result_.violation = "the group does not recover: " + states();
    }
    if (violation().empty()) reads_.check();
    if (violation().empty()) proposals_.check_rejected(order_.log());
    if (result_.violation.empty()) result_.violation = violation();
    result_.decided = order_.log().size();
    result_.reads = answered_reads_;
    result_.changes = newest_configuration() - 1;
    return result_;
  }

 private:
  std::string violation() const {
    for (const Checker* checker : {static_cast<const Checker*>(&order_), static_cast<const Checker*>(&proposals_),
                                   static_cast<const Checker*>(&reads_)}) {
      if (!checker->violation().empty()) return checker->violation();
    }
    return result_.violation;
  }

  std::string states() {
    std::string text;
    for (int replica = 0; replica < options_.replicas; ++replica) {
      text += std::to_string(replica) + ": " + describe_status(group_.at(replica).status());
    }
    return text;
  }

  void log(const std::string& what) {
    if (options_.trace) std::cerr << what << "\n";
  }

  void observe(int replica, const Effects& effects) {
    if (options_.trace) std::cerr << describe_effects(replica, effects);
    watch(replica, effects);
    for (const Rejection& rejection : effects.rejected) proposals_.rejected(rejection.id);
    for (const ReplicaIncarnation& name : effects.salvage_needed) salvages_.emplace_back(replica, name);
    if (effects.history_needed) histories_.push_back(replica);
    for (const ReplicaIncarnation& name : effects.fence) fences_.push_back(name);
    if (effects.snapshot_needed) wants_snapshot_.insert(replica);
  }

  std::uint64_t newest_configuration() {
    std::uint64_t newest = 1;
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (group_.alive(replica)) newest = std::max(newest, group_.at(replica).status().configuration);
    }
    return newest;
  }

  // ---- Faults

  void kill(int replica) {
    if (!group_.alive(replica)) return;
    log("kill " + std::to_string(replica));
    ++result_.kills;
    forget_reads(replica);
    for (const std::uint64_t id : reads_at_[replica]) reads_.rejected(id);
    group_.crash(replica);
    // Messages that have not left yet are lost with it.
    for (int to = 0; to < options_.replicas; ++to) {
      auto& link = group_.link(replica, to);
      while (!link.empty() && prng_.chance(0.5)) link.pop_back();
    }
    wants_snapshot_.erase(replica);
    unreported_.emplace_back(replica, group_.incarnation(replica));
  }

  void kill_both() {
    const int witness = any_replica();
    if (!group_.alive(witness)) return;
    const AgreementStatus status = group_.at(witness).status();
    if (!group_.alive(status.leader.value()) || !group_.alive(status.acceptor.value())) return;
    kill(status.leader.value());
    kill(status.acceptor.value());
    ++result_.both;
  }

  void restart(int replica) {
    if (group_.alive(replica)) return;
    log("restart " + std::to_string(replica));
    ++result_.restarts;
    order_.restarted(replica);
    paused_steps_[index(replica)] = 0;
    group_.restart(replica);
    // A published snapshot outlives every process.
    if (published_ > Slot(0)) start_from(replica, published_);
  }

  // The kernel reports each death to every replica, with a delay.
  void report_deaths() {
    for (std::size_t i = 0; i < unreported_.size(); ++i) {
      if (!calm_ && !prng_.chance(0.2)) continue;
      const auto [replica, incarnation] = unreported_[i];
      unreported_.erase(unreported_.begin() + static_cast<long>(i--));
      for (int witness = 0; witness < options_.replicas; ++witness) {
        if (witness == replica || !runs(witness)) continue;
        Effects effects;
        group_.report_death_of(witness, {EndpointId(static_cast<std::uint16_t>(replica)), incarnation});
      }
    }
  }

  void answer_salvages() {
    for (auto [replica, name] : std::exchange(salvages_, {})) {
      if (!runs(replica) || (!calm_ && prng_.chance(0.5))) continue;
      ++result_.salvages;
      group_.answer_salvage(replica, name);
    }
    for (const int replica : std::exchange(histories_, {})) {
      if (runs(replica) && (calm_ || prng_.chance(0.5))) group_.answer_history(replica);
    }
    for (const ReplicaIncarnation& name : std::exchange(fences_, {})) {
      if (group_.alive(name.id.value()) && group_.incarnation(name.id.value()) == name.incarnation)
        kill(name.id.value());
    }
  }

  void faults() {
    pauses_go_on();
    if (prng_.chance(schedule_.pause)) {
      ++result_.pauses;
      paused_steps_[index(any_replica())] = 1 + static_cast<int>(prng_.below(300));
    }
    if (prng_.chance(schedule_.kill)) kill(any_replica());
    if (prng_.chance(schedule_.kill / 4)) kill_both();
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (!group_.alive(replica) && prng_.chance(schedule_.restart)) restart(replica);
    }
    report_deaths();
    answer_salvages();
  }

  // ---- Work

  void random_step() {
    faults();
    install_snapshots();
    if (prng_.chance(0.2)) propose(any_replica());
    if (prng_.chance(0.05)) read(any_replica());
    if (prng_.chance(0.02)) wait(any_replica());
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (prng_.chance(schedule_.tick)) tick(replica);
    }
    if (prng_.chance(0.3)) apply(any_replica());
    if (prng_.chance(0.02)) compact(any_replica());
    if (prng_.chance(0.003)) move();
    if (prng_.chance(0.02)) grant_room(any_replica());
    for (int moves = 0; moves < 2 * options_.replicas; ++moves) deliver_and_trace(any_replica(), any_replica());
  }

  void propose(int replica) {
    if (!runs(replica) || !group_.at(replica).can_propose()) return;
    const std::string command =
        "c" + std::to_string(++commands_) + "." + std::string(prng_.below(kCommandBytesMax), 'x');
    proposals_.proposed(next_id_++, command);
    group_.propose(replica, command);
  }

  void read(int replica) {
    if (!runs(replica)) return;
    reads_at_[replica].push_back(next_id_);
    reads_.began(next_id_++);
    group_.read(replica);
    answer_reads(replica);
  }

  void wait(int replica) {
    if (runs(replica)) group_.client_waits(replica);
  }

  void move() {
    const int to = any_replica();
    const int asked = any_replica();
    if (!runs(asked)) return;
    (void)group_.move(asked, prng_.chance(0.5) ? Role::kLeader : Role::kAcceptor, prng_.chance(0.5) ? asked : to);
  }

  // Trims the slots that every voter has applied, a dead one when it died; a snapshot of them is published first.
  void compact(int replica) {
    if (!runs(replica)) return;
    Slot keep_from = group_.applied(0);
    for (int voter = 1; voter < options_.voters; ++voter) keep_from = std::min(keep_from, group_.applied(voter));
    published_ = std::max(published_, keep_from);
    log("compact " + std::to_string(replica) + " " + std::to_string(keep_from.value()));
    group_.compact(replica, keep_from);
  }

  void start_from(int replica, Slot slot) {
    if (!install(replica, slot)) return;
    ++result_.snapshots;
    published_ = std::max(published_, slot);  // as Agreement::installed requires
  }

  void install_snapshots() {
    for (const int replica : std::exchange(wants_snapshot_, {})) {
      Slot newest = published_;
      for (int peer = 0; peer < options_.replicas; ++peer) {
        if (runs(peer)) newest = std::max(newest, group_.applied(peer));
      }
      if (runs(replica)) start_from(replica, newest);
    }
  }

  void deliver_and_trace(int from, int to) {
    if (options_.trace && runs(to) && !group_.link(from, to).empty()) {
      log("deliver " + std::to_string(from) + "->" + std::to_string(to) + " " +
          describe_message(*group_.link(from, to).front()));
    }
    deliver(from, to);
  }

  // ---- The faults have stopped

  // All replicas run and clients wait everywhere: finally all have decided the same, and a new command is decided.
  bool recover() {
    std::fill(paused_steps_.begin(), paused_steps_.end(), 0);
    for (int replica = 0; replica < options_.replicas; ++replica) {
      restart(replica);
      grant_room(replica);
    }
    const std::uint64_t before = commands_;
    for (int round = 0; round < 20'000 && violation().empty(); ++round) {
      calm_round();
      if (commands_ == before) propose_anywhere();
      if (commands_ > before && at_rest()) return true;
    }
    return !violation().empty();
  }

  void propose_anywhere() {
    for (int replica = 0; replica < options_.replicas && commands_ < 1'000'000; ++replica) {
      if (!group_.at(replica).can_propose()) {
        group_.client_waits(replica);
        continue;
      }
      last_ = "last";
      group_.propose(replica, last_);
      ++next_id_;
      ++commands_;
      return;
    }
  }

  bool at_rest() {
    bool decided = false;
    for (auto last = order_.log().rbegin(); last != order_.log().rend() && !decided; ++last)
      decided = last->second == last_;
    if (!decided) --commands_;  // its leader may have been deposed: another one is proposed
    if (!decided) return false;
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (order_.next(replica).value() != order_.log().size()) return false;
      if (!ready_[index(replica)].empty() || group_.at(replica).wants_tick()) return false;
    }
    return true;
  }

  void calm_round() {
    report_deaths();
    answer_salvages();
    install_snapshots();
    for (int from = 0; from < options_.replicas; ++from) {
      for (int to = 0; to < options_.replicas; ++to) {
        for (std::size_t left = group_.link(from, to).size(); left > 0; --left) deliver_and_trace(from, to);
      }
    }
    for (int replica = 0; replica < options_.replicas; ++replica) {
      apply(replica);
      tick(replica);
    }
  }

  FailoverOptions options_;
  const FaultSchedule schedule_;
  ProposalChecker proposals_;
  std::map<int, std::vector<std::uint64_t>> reads_at_;
  std::vector<std::pair<int, Incarnation>> unreported_;
  std::vector<std::pair<int, ReplicaIncarnation>> salvages_;
  std::vector<int> histories_;
  std::vector<ReplicaIncarnation> fences_;
  std::set<int> wants_snapshot_;
  Slot published_;
  std::string last_;
  std::uint64_t commands_ = 0;
  FailoverResult result_;
};

}  // namespace

FailoverResult fail_over(const FailoverOptions& options) { return Failover(options).run(); }

}  // namespace ingot::testing
