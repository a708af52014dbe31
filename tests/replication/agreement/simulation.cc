#include "tests/replication/agreement/simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "tests/replication/agreement/seeded_run.h"

namespace ingot::testing {

namespace {

AgreementBounds random_bounds(Prng& prng) {
  AgreementBounds bounds;
  if (prng.chance(0.5)) bounds.window_slots = 1 + static_cast<int>(prng.below(16));
  if (prng.chance(0.3)) bounds.command_log_slots = 1 + static_cast<int>(prng.below(40));
  if (prng.chance(0.3)) bounds.learner_ahead_slots = bounds.window_slots + static_cast<int>(prng.below(4));
  if (prng.chance(0.2)) bounds.prepared_bytes = 300;
  bounds.suspect_ticks = 1'000'000;  // no change of roles: tests/replication/agreement/failover.h tests those
  return bounds;
}

// The parameters of a run and its group, drawn from its seed.
struct FaultSchedule {
  explicit FaultSchedule(const SimulationOptions& options)
      : prng(options.seed),
        loss(prng.chance(0.5) ? 0.0 : 0.2 * prng.unit()),
        backlog_messages(prng.chance(0.5) ? 1'000'000 : 1 + prng.below(30)),
        pause(prng.chance(0.5) ? 0.0 : 0.05 * prng.unit()),
        crash(prng.chance(0.5) ? 0.0 : 0.005),
        command_bytes(1 + prng.below(200)),
        tick(0.02 + 0.3 * prng.unit()),
        group{options.kind, options.replicas, options.voters, random_bounds(prng), true} {}

  Prng prng;
  double loss;  // of a message, by a backlog that happens to be full
  std::uint64_t backlog_messages;
  double pause;
  double crash;
  std::uint64_t command_bytes;
  double tick;
  GroupOptions group;
};

class Simulation : private SeededRun {
 public:
  explicit Simulation(const SimulationOptions& options) : Simulation(options, FaultSchedule(options)) {}

  Simulation(const SimulationOptions& options, const FaultSchedule& schedule)
      : SeededRun(schedule.prng, schedule.group),
        options_(options),
        schedule_(schedule),
        stable_(options.kind, options.replicas, options.voters),
        overflowed_(static_cast<std::size_t>(options.replicas * options.replicas)) {
    group_.observe = [this](int replica, const Effects& effects) { observe(replica, effects); };
    group_.loses = [this](int from, int to) { return loses(from, to); };
  }

  SimulationResult run() {
    for (int step = 0; step < options_.steps && violation().empty(); ++step) random_step();
    calm_ = true;
    if (violation().empty() && !come_to_rest()) result_.violation = "the group does not come to rest";
    if (violation().empty()) check();
    if (result_.violation.empty()) result_.violation = violation();
    result_.decided = order_.log().size();
    result_.reads = answered_reads_;
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (group_.alive(replica)) result_.refused += group_.at(replica).refused_messages();
    }
    return result_;
  }

 private:
  std::string violation() const {
    for (const Checker* checker : {static_cast<const Checker*>(&order_), static_cast<const Checker*>(&proposals_),
                                   static_cast<const Checker*>(&reads_), static_cast<const Checker*>(&stable_)}) {
      if (!checker->violation().empty()) return checker->violation();
    }
    return result_.violation;
  }

  std::size_t link_index(int from, int to) const { return index(from * options_.replicas + to); }

  bool loses(int from, int to) {
    if (!group_.alive(to)) return true;
    const bool full = group_.link(from, to).size() >= schedule_.backlog_messages || prng_.chance(schedule_.loss);
    if (calm_ || !full) return false;
    overflowed_[link_index(from, to)] = true;
    ++result_.lost;
    return true;
  }

  void observe(int replica, const Effects& effects) {
    stable_.saw(replica, effects);
    watch(replica, effects);
    for (const Decision& decision : effects.decided) check_two_phase(replica, decision);
    for (const Rejection& rejection : effects.rejected) {
      ++result_.rejected;
      if (rejection.kind != Rejection::Kind::kRead) proposals_.rejected(rejection.id);
    }
    if (effects.snapshot_needed) wants_snapshot_.push_back(replica);
  }

  void check_two_phase(int replica, const Decision& decision) {
    if (options_.kind != "2pc" || replica != 0) return;
    for (int peer = 1; peer < options_.replicas; ++peer) {
      if (group_.applied(peer) <= decision.slot) result_.violation = "2PC decides what is not applied everywhere";
    }
  }

  void random_step() {
    pauses_go_on();
    if (prng_.chance(schedule_.pause)) paused_steps_[index(any_replica())] = 1 + static_cast<int>(prng_.below(200));
    if (prng_.chance(schedule_.crash)) crash_somebody();
    install_snapshots();
    if (prng_.chance(0.15)) propose();
    if (prng_.chance(0.05)) read();
    if (prng_.chance(schedule_.tick)) tick(any_replica());
    if (prng_.chance(0.3)) apply(any_replica());
    if (prng_.chance(0.01)) compact(any_replica());
    if (prng_.chance(0.02)) grant_room(any_replica());
    for (int moves = 0; moves < options_.replicas; ++moves) deliver_somewhere();
    drain(any_replica(), any_replica());
  }

  // 1Paxos without changes of roles survives the loss of replicas that neither lead nor accept; Multi-Paxos, of a
  // minority; 2PC, none.
  void crash_somebody() {
    const int replica = any_replica();
    int dead = 0;
    for (int other = 0; other < options_.voters; ++other) dead += group_.alive(other) ? 0 : 1;
    const bool dispensable = options_.kind == "1paxos" ? replica >= 2
                             : options_.kind == "multipaxos"
                                 ? replica >= options_.voters || (replica > 0 && 2 * (dead + 1) < options_.voters)
                                 : false;
    if (!dispensable || !group_.alive(replica)) return;
    forget_reads(replica);
    group_.crash(replica);
  }

  void propose() {
    const int replica = prng_.chance(0.95) ? 0 : any_replica();
    if (!runs(replica)) return;
    const std::string command = "c" + std::to_string(++commands_) + "." +
                                std::string(prng_.below(schedule_.command_bytes), 'x');
    ballot_of_[next_id_] = group_.at(replica).status().ballot;
    proposals_.proposed(next_id_++, command);
    group_.propose(replica, command);
  }

  void read() {
    const int replica = options_.kind == "2pc" || prng_.chance(0.05) ? any_replica() : 0;
    if (!runs(replica)) return;
    reads_.began(next_id_++);
    group_.read(replica);
    answer_reads(replica);
  }

  // As the replica does it: trims what every voter has applied or, for lack of room, what two replicas have.
  void compact(int replica) {
    if (!runs(replica)) return;
    std::vector<Slot> applied;
    for (int other = 0; other < options_.replicas; ++other) applied.push_back(group_.applied(other));
    Slot keep_from = *std::min_element(applied.begin(), applied.begin() + options_.voters);
    if (prng_.chance(0.5)) {
      std::sort(applied.rbegin(), applied.rend());
      keep_from = std::min(group_.applied(replica), applied[applied.size() > 1 ? 1 : 0]);
    }
    group_.compact(replica, keep_from);
  }

  void install_snapshots() {
    for (const int replica : std::exchange(wants_snapshot_, {})) {
      Slot newest;
      for (int peer = 0; peer < options_.replicas; ++peer) {
        if (group_.alive(peer)) newest = std::max(newest, group_.applied(peer));
      }
      if (group_.alive(replica) && install(replica, newest)) ++result_.snapshots;
    }
  }

  void deliver_somewhere() {
    const int from = any_replica();
    const int to = any_replica();
    deliver(from, to);
  }

  void drain(int from, int to) {
    if (!runs(from) || !overflowed_[link_index(from, to)] || !group_.link(from, to).empty()) return;
    overflowed_[link_index(from, to)] = false;
    group_.drained(from, to);
  }

  // One round in which every replica handles all that is waiting. False: there was nothing.
  bool calm_round() {
    bool busy = !wants_snapshot_.empty();
    install_snapshots();
    for (int from = 0; from < options_.replicas; ++from) {
      for (int to = 0; to < options_.replicas; ++to) {
        while (!group_.link(from, to).empty()) {
          group_.deliver(from, to);
          busy = true;
        }
        busy = busy || (group_.alive(from) && overflowed_[link_index(from, to)]);
        drain(from, to);
      }
    }
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (!group_.alive(replica)) continue;
      busy = busy || group_.applied(replica) < order_.next(replica) || group_.at(replica).wants_tick();
      apply(replica);
      tick(replica);
    }
    return busy;
  }

  bool come_to_rest() {
    std::fill(paused_steps_.begin(), paused_steps_.end(), 0);
    for (int replica = 0; replica < options_.replicas; ++replica) grant_room(replica);
    for (int round = 0; round < 20'000 && violation().empty(); ++round) {
      if (!calm_round()) return true;
    }
    return !violation().empty();
  }

  void check() {
    for (const auto& [id, ballot] : ballot_of_) {
      if (options_.kind != "2pc" && group_.at(0).status().ballot != ballot) proposals_.excuse(id);
    }
    proposals_.check(order_.log());
    reads_.check();
    for (int replica = 0; replica < options_.replicas; ++replica) {
      if (group_.alive(replica) && order_.next(replica).value() != order_.log().size()) {
        result_.violation = "replica " + std::to_string(replica) + " misses decisions at rest";
      }
    }
  }

  SimulationOptions options_;
  const FaultSchedule schedule_;
  ProposalChecker proposals_;
  StableChecker stable_;
  std::vector<bool> overflowed_;                      // by link: has lost messages, and the drain is not reported yet
  std::vector<int> wants_snapshot_;
  std::map<std::uint64_t, Ballot> ballot_of_;  // of proposals
  std::uint64_t commands_ = 0;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const SimulationOptions& options) { return Simulation(options).run(); }

}  // namespace ingot::testing
