// Multi-Paxos under kills: groups from one seed each, in which one, several or all replicas die, are stopped, restart
// with what their predecessors stored, and lose messages; then the faults stop and all must agree. INGOT_SEED=n runs
// one seed only, with INGOT_TRACE=1 step by step; INGOT_SIMULATIONS=n changes how many each size gets.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "tests/replication/agreement/group.h"
#include "tests/replication/agreement/trace.h"
#include "tests/seeds.h"

namespace ingot::testing {
namespace {

struct Totals {
  std::uint64_t decided = 0, kills = 0, all_killed = 0, takeovers = 0, reads = 0, rejected = 0, lost = 0, snapshots = 0;
};

class Run {
 public:
  Run(int replicas, int voters, std::uint64_t seed)
      : replicas_(replicas),
        prng_(seed * 1000 + static_cast<std::uint64_t>(replicas)),
        group_(options(replicas, voters, seed)),
        next_(size(replicas)),
        stopped_(size(replicas)),
        untold_(size(replicas)),
        overflowed_(size(replicas * replicas)) {
    loss_ = prng_.chance(0.5) ? 0.02 : 0;
    kill_ = prng_.chance(0.5) ? 0.005 : 0.001;
    group_.observe = [this](int replica, const Effects& effects) {
      if (trace_) std::fputs(describe_effects(replica, effects).c_str(), stderr);
      saw(replica, effects);
    };
    group_.loses = [this](int from, int to) {
      if (calm_ || !prng_.chance(loss_)) return false;
      overflowed_[link(from, to)] = true;
      ++totals_.lost;
      return true;
    };
  }

  std::string run() {
    for (int step = 0; step < 4000 && violation_.empty(); ++step) random_step();
    calm();
    for (const std::uint64_t id : rejected_) {
      for (const auto& [slot, command] : log_) {
        if (command == commands_[id]) object("a rejected command was decided: " + command);
      }
    }
    totals_.decided = log_.size();
    return violation_;
  }

  const Totals& totals() const { return totals_; }

 private:
  static std::size_t size(int count) { return static_cast<std::size_t>(count); }
  static GroupOptions options(int replicas, int voters, std::uint64_t seed) {
    GroupOptions options{.kind = "multipaxos", .replicas = replicas, .voters = voters};
    options.bounds.window_slots = seed % 3 == 0 ? 2 : 16;
    options.bounds.learner_ahead_slots = 32;
    options.bounds.command_log_slots = seed % 2 == 0 ? 8 : 4096;
    return options;
  }
  std::size_t link(int from, int to) const { return size(from * replicas_ + to); }
  int any() { return static_cast<int>(prng_.below(static_cast<std::uint64_t>(replicas_))); }
  bool runs(int replica) const { return group_.alive(replica) && stopped_[size(replica)] == 0; }
  void object(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  // The highest slot that a living replica or a published snapshot has.
  Slot newest() const {
    Slot newest = published_;
    for (int replica = 0; replica < replicas_; ++replica) {
      if (group_.alive(replica)) newest = std::max(newest, next_[size(replica)]);
    }
    return newest;
  }

  void saw(int replica, const Effects& effects) {
    for (const Decision& decision : effects.decided) {
      if (decision.slot != next_[size(replica)]) object("out of order at replica " + std::to_string(replica));
      next_[size(replica)] = decision.slot.next();
      const auto [known, fresh] = log_.emplace(decision.slot, *decision.command);
      if (known->second != *decision.command) object("two commands for slot " + std::to_string(decision.slot.value()));
      floor_ = std::max(floor_, decision.slot.next());
    }
    for (const ReadReady& ready : effects.reads_ready) {
      ++totals_.reads;
      if (ready.applied_needed < reads_.at(ready.read_id)) object("a read that misses what was decided before it");
    }
    for (const Rejection& rejection : effects.rejected) {
      if (rejection.kind == Rejection::Kind::kCommand) rejected_.insert(rejection.id);
    }
    for (const StableWrite& write : effects.stable) totals_.takeovers += write.kind == StableWrite::Kind::kLeading;
    if (effects.snapshot_needed) wants_snapshot_.insert(replica);
  }

  void random_step() {
    for (int& left : stopped_) left = std::max(0, left - 1);
    const double draw = prng_.unit();
    const int replica = any();
    if (prng_.chance(0.02)) grant_room(replica);
    if (draw < 0.50) return deliver(any(), replica);
    if (draw < 0.75) return tick(replica);
    if (draw < 0.83) return propose(replica);
    if (draw < 0.88) return read(replica);
    if (draw < 0.90 && runs(replica)) return group_.client_waits(replica);
    if (draw < 0.92) return tell(replica);
    if (draw < 0.94) return install();
    if (draw < 0.95) return compact(replica);
    if (draw < 0.96) return drain(replica, any());
    if (draw < 0.96 + kill_) return kill(replica);
    if (draw < 0.97 + kill_ && !group_.alive(replica)) return restart(replica);
    if (draw < 0.9715 + kill_) stopped_[size(replica)] = static_cast<int>(prng_.below(800));
    if (draw > 0.9995) kill_all();
  }

  void deliver(int from, int to) {
    if (from != to && runs(to) && !group_.link(from, to).empty()) group_.deliver(from, to);
  }

  void tick(int replica) {
    if (runs(replica) && group_.at(replica).wants_tick()) group_.tick(replica);
  }

  void propose(int replica) {
    if (!runs(replica)) return;
    const int leader = group_.at(replica).status().leader.value();
    const int at = runs(leader) && !prng_.chance(0.1) ? leader : replica;
    const std::string command = "c" + std::to_string(commands_.size());
    commands_[next_id_++] = command;
    group_.propose(at, command);
  }

  // Mostly at a replica that claims to lead, perhaps wrongly.
  void read(int replica) {
    for (int other = 0; other < replicas_ && prng_.chance(0.9); ++other) {
      if (runs(other) && group_.at(other).status().role == Role::kLeader) replica = other;
    }
    if (!runs(replica)) return;
    reads_[next_id_++] = floor_;
    group_.read(replica);
  }

  // Of its segment, for what a takeover stores: some bytes, none, or enough.
  void grant_room(int replica) {
    if (!group_.alive(replica)) return;
    const bool enough = calm_ || prng_.chance(0.5);
    group_.at(replica).room(enough ? SIZE_MAX : prng_.below(2) * prng_.below(1000));
  }

  void compact(int replica) {
    if (prng_.chance(0.3)) published_ = std::max(published_, group_.applied(any()));
    if (runs(replica)) group_.compact(replica, std::min(published_, group_.applied(replica)));
  }

  void install() {
    for (const int replica : std::exchange(wants_snapshot_, {})) {
      const Slot slot = newest();
      if (!group_.alive(replica) || slot <= next_[size(replica)]) continue;
      ++totals_.snapshots;
      next_[size(replica)] = slot;
      group_.install(replica, slot);
    }
  }

  void kill(int replica) {
    if (!group_.alive(replica)) return;
    ++totals_.kills;
    group_.crash(replica);
    wants_snapshot_.erase(replica);
    stopped_[size(replica)] = 0;
    untold_[size(replica)].clear();
    for (int other = 0; other < replicas_; ++other) {
      if (other == replica) continue;
      untold_[size(other)].insert(replica);
      // Its last messages may still arrive, or are lost with it.
      if (prng_.chance(0.3)) group_.link(replica, other).clear();
      overflowed_[link(replica, other)] = false;
    }
  }

  void kill_all() {
    ++totals_.all_killed;
    for (int replica = 0; replica < replicas_; ++replica) kill(replica);
    for (int replica = 0; replica < replicas_; ++replica) restart(replica);
  }

  void restart(int replica) {
    if (group_.alive(replica)) return;
    for (int other = 0; other < replicas_; ++other) group_.link(other, replica).clear();
    next_[size(replica)] = Slot(0);
    for (auto& told : untold_) told.erase(replica);
    group_.restart(replica);
    if (published_ > next_[size(replica)] && prng_.chance(0.7)) {
      next_[size(replica)] = published_;
      group_.install(replica, published_);
    } else if (published_ > Slot(0)) {
      wants_snapshot_.insert(replica);
    }
  }

  void tell(int replica) {
    if (!runs(replica)) return;
    for (const int dead : std::exchange(untold_[size(replica)], {})) group_.report_death(replica, dead);
  }

  void drain(int from, int to) {
    if (from == to || !runs(from) || !overflowed_[link(from, to)] || !group_.link(from, to).empty()) return;
    overflowed_[link(from, to)] = false;
    group_.drained(from, to);
  }

  // Ends the faults: all replicas run, and a last command, for which clients wait, is decided everywhere.
  void calm() {
    calm_ = true;
    for (int replica = 0; replica < replicas_; ++replica) {
      restart(replica);
      grant_room(replica);
    }
    std::fill(stopped_.begin(), stopped_.end(), 0);
    for (int round = 0; round < 5000 && violation_.empty(); ++round) {
      if (round % 20 == 0) {
        for (int replica = 0; replica < replicas_; ++replica) ask_for_last(replica);
      }
      calm_round();
      if (at_rest()) return;
    }
    std::string who;
    for (int replica = 0; replica < replicas_; ++replica) {
      const AgreementStatus status = group_.at(replica).status();
      who += " " + std::to_string(replica) + (status.role == Role::kLeader ? "*" : "") + " decided " +
             std::to_string(status.decided.value()) + " ballot " + std::to_string(status.ballot.value()) + ";";
    }
    object("the group does not come to rest:" + who);
  }

  void ask_for_last(int replica) {
    if (log_has_last()) return;
    group_.client_waits(replica);
    if (!group_.at(replica).can_propose()) return;
    const std::string command = "last" + std::to_string(next_id_);
    commands_[next_id_++] = command;
    group_.propose(replica, command);
  }

  bool log_has_last() const {
    return std::any_of(log_.begin(), log_.end(), [](const auto& each) { return each.second.starts_with("last"); });
  }

  bool at_rest() const {
    if (!log_has_last()) return false;
    return std::all_of(next_.begin(), next_.end(), [&](Slot next) { return next.value() == log_.size(); });
  }

  void calm_round() {
    install();
    for (int from = 0; from < replicas_; ++from) {
      for (int to = 0; to < replicas_; ++to) {
        if (from == to) continue;
        while (!group_.link(from, to).empty()) group_.deliver(from, to);
        drain(from, to);
      }
    }
    for (int replica = 0; replica < replicas_; ++replica) {
      tell(replica);
      tick(replica);
    }
  }

  int replicas_;
  Prng prng_;
  double loss_ = 0;
  double kill_ = 0;
  Group group_;
  std::vector<Slot> next_;
  std::vector<int> stopped_;            // by replica: steps left
  std::vector<std::set<int>> untold_;   // by replica: deaths not yet reported to it
  std::vector<bool> overflowed_;
  std::set<int> wants_snapshot_;
  std::map<Slot, std::string> log_;     // every decision of any replica
  Slot floor_;
  Slot published_;                         // a snapshot that outlives all processes holds the slots below
  std::map<std::uint64_t, Slot> reads_;
  std::map<std::uint64_t, std::string> commands_;
  std::set<std::uint64_t> rejected_;
  std::uint64_t next_id_ = 1;           // the number that Group gives the next proposal or read
  bool calm_ = false;
  const bool trace_ = std::getenv("INGOT_TRACE") != nullptr;
  std::string violation_;
  Totals totals_;
};

// Fewer, as under sanitizers, may by chance lose no message or answer hardly any read.
constexpr std::uint64_t kMeaningfulSeeds = 30;

void check_size(int replicas, int voters, std::uint64_t seeds) {
  const SeedRange range = seeds_to_run(seeds);
  Totals sum;
  for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
    Run run(replicas, voters, seed);
    INFO("INGOT_SEED=" << seed << ", " << replicas << " replicas, " << voters << " voters");
    REQUIRE(run.run() == "");
    const Totals& totals = run.totals();
    sum.decided += totals.decided;
    sum.kills += totals.kills;
    sum.all_killed += totals.all_killed;
    sum.takeovers += totals.takeovers;
    sum.reads += totals.reads;
    sum.lost += totals.lost;
    sum.snapshots += totals.snapshots;
  }
  const auto text = [&] {
    std::ostringstream out;
    out << replicas << " replicas, " << voters << " voters, " << range.count() << " seeds: " << sum.decided
        << " slots, " << sum.kills << " kills, " << sum.all_killed << " times all, " << sum.takeovers
        << " leaderships, " << sum.reads << " reads, " << sum.lost << " messages lost, " << sum.snapshots
        << " snapshots";
    return out.str();
  }();
  INFO(text);
  if (std::getenv("INGOT_SIMULATIONS")) WARN(text);
  if (range.count() < kMeaningfulSeeds) return;
  CHECK(sum.decided > 10 * range.count());
  CHECK(sum.kills > range.count());
  CHECK(sum.takeovers > range.count());
  CHECK(sum.reads > range.count());
  if (replicas > 1) CHECK(sum.lost > 0);
  if (seeds >= 100) CHECK(sum.all_killed > 0);
  if (seeds >= 100) CHECK(sum.snapshots > 0);
}

// More votes than one Promise holds: the candidate fetches the rest before it leads.
TEST_CASE("a candidate collects the votes of several Promises") {
  GroupOptions options{.kind = "multipaxos"};
  options.bounds.window_slots = 700;
  Group group(options);
  int promises = 0;
  group.observe = [&](int, const Effects& effects) {
    for (const Outgoing& outgoing : effects.messages) {
      promises += describe_message(outgoing.message.joined()).starts_with("Promise");
    }
  };
  for (int i = 0; i < 600; ++i) group.propose(0, "c" + std::to_string(i));
  while (!group.link(0, 1).empty()) group.deliver(0, 1);
  group.link(0, 2).clear();
  group.crash(0);
  group.report_death(2, 0);
  while (group.at(2).status().role != Role::kLeader && group.at(2).wants_tick()) {
    group.tick(2);
    group.deliver_all();
  }
  group.deliver_all();
  CHECK(promises >= 3);
  CHECK(group.at(2).status().decided == Slot(600));
  CHECK(group.at(1).status().decided == Slot(600));
}

TEST_CASE("Multi-Paxos with three voters survives any kills, and decided slots stay decided") { check_size(3, 3, 150); }
TEST_CASE("Multi-Paxos with five voters survives any kills") { check_size(5, 5, 100); }
TEST_CASE("Multi-Paxos with four replicas, three of them voters, survives any kills") { check_size(4, 3, 60); }
TEST_CASE("Multi-Paxos with one voter, and with two, survives any kills") {
  check_size(1, 1, 30);
  check_size(2, 2, 40);
}

}  // namespace
}  // namespace ingot::testing
