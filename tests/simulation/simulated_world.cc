#include "tests/simulation/simulated_world.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "tests/replication/agreement/trace.h"
#include "tests/simulation/history/linearizability.h"

namespace ingot::simulation {

namespace {

// Once the faults have ended, every operation is answered and each replica up to date within this time. Retransmission
// backs off to kRetransmitTicksMax ticks of at most 5 ms, and so does suspicion.
constexpr TimeNs kRecoveryNsMax = 60 * kSecond;

// 2PC cannot go on without one of its first replicas. After this time every process has heard of the death.
constexpr TimeNs kBlockedNs = 100 * kMs;

// From a client's last attempt until the replicas have noticed that their leader does not answer.
constexpr TimeNs kSilenceNs = 200 * kMs;
constexpr TimeNs kBlinkNs = 20 * kMs;  // until an answer has arrived

// A run takes some thousands of events. One that takes this many is a storm of messages that feeds itself.
constexpr std::uint64_t kEventsMax = 1'000'000;
constexpr std::size_t kTraceLinesMax = 200'000;  // more than a reader needs

}  // namespace

SimulatedWorld::SimulatedWorld(const Options& options, Plan plan)
    : Environment(options.replicas, options.replicas + plan.client.clients, plan.network, options.seed ^ 0x6e6574),
      options_(options),
      plan_(std::move(plan)),
      prng_(options.seed ^ 0x776f726c64),
      accepted_(static_cast<std::size_t>(options.replicas),
                std::vector<Incarnation>(static_cast<std::size_t>(options.replicas), Incarnation(1))),
      sent_snapshots_(static_cast<std::size_t>(options.replicas)),
      group_(options_, plan_, *this),
      victims_(plan_.faults.size()),
      open_ends_(plan_.faults.size()),
      injected_faults_(plan_.faults.size()),
      faults_open_(plan_.faults.size()) {
  workload_.commands.resize(static_cast<std::size_t>(plan_.client.clients));
  workload_.writes_left = plan_.writes;
  workload_.history.reserve(static_cast<std::size_t>(2 * plan_.writes));
  for (int client = 0; client < plan_.client.clients; ++client) {
    clients_.emplace_back(client, options_.replicas, plan_.client, prng_(), *this, workload_);
  }
  checkers.blocks.set_patience(plan_.replica.bounds.blocked_after_ns + kSilenceNs +
                                   (plan_.client.session.retry_ms << kRetryDoublings) * kMs,
                               plan_.replica.bounds.blocked_after_ns + kBlinkNs);
  for (std::size_t fault = 0; fault < plan_.faults.size(); ++fault) {
    post({.at = plan_.faults[fault].at, .kind = Event::Kind::kFault, .number = fault});
  }
}

Outcome SimulatedWorld::run() {
  while (violation_.empty() && !finished()) {
    idle_ = !step();
    if (idle_ && !blocks_for_good()) violation_ = describe_standstill("liveness: nothing will ever happen again");
    check_silence();
    if (violation_.empty()) violation_ = find_violation();
    if (calm_since_ != kNever && now_ > calm_since_ + kRecoveryNsMax) {
      violation_ = describe_standstill("liveness: the group does not recover");
    }
    if (tally_.events >= kEventsMax) violation_ = describe_standstill("liveness: too many events");
  }
  if (violation_.empty() && blocks_for_good()) check_blocked();
  else if (violation_.empty()) check_at_rest();
  tally_.steps = steps;
  tally_.messages = network.sent();
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    if (group_.at(replica).replica) tally_.dropped += group_.at(replica).replica->dropped();
  }
  tally_.snapshots = installed;
  tally_.snapshot_messages = snapshot_messages;
  tally_.relayed = relayed_messages;
  tally_.decided = checkers.log.end().value();
  tally_.writes = workload_.writes;
  tally_.no_space = workload_.no_space;
  tally_.unacknowledged_writes = workload_.unacknowledged_writes;
  tally_.reads = workload_.reads;
  tally_.repeats = workload_.repeats;
  tally_.unknown = workload_.unknown;
  tally_.virtual_us = now_ / kUs;
  if (!violation_.empty()) trace("VIOLATION " + violation_);
  return {violation_, tally_, std::move(trace_)};
}

// ---- The loop -------------------------------------------------------------------------------------------------------

TimeNs SimulatedWorld::next_poll(int replica) const {
  const Place& place = group_.at(replica);
  if (!place.runs()) return kNever;
  const TimeNs next = std::min(network.next_arrival(replica), place.replica->next_poll());
  return next == kNever ? kNever : std::max(next, place.replica->busy_until());
}

// The actor that is due first acts; events go before replicas, replicas before clients.
bool SimulatedWorld::step() {
  TimeNs first = kNever;
  std::size_t event = events_.size();
  int replica = -1;
  std::size_t client = clients_.size();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].at >= first) continue;
    first = events_[i].at;
    event = i;
  }
  for (int i = 0; i < group_.replicas(); ++i) {
    const TimeNs next = next_poll(i);
    if (next >= first) continue;
    first = next;
    replica = i;
  }
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const int endpoint = group_.replicas() + static_cast<int>(i);
    const TimeNs next =
        clients_[i].may_flush() ? now_ : std::min(clients_[i].next_poll(), network.next_arrival(endpoint));
    if (next >= first) continue;
    first = next;
    client = i;
  }
  if (first == kNever) return false;
  now_ = std::max(now_, first);
  network.advance(now_);
  ++tally_.events;
  if (client < clients_.size()) {
    poll_client(client);
  } else if (replica >= 0) {
    poll_replica(replica);
  } else {
    const Event due = std::move(events_[event]);
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(event));
    act(due);
  }
  graveyard_.clear();
  return true;
}

void SimulatedWorld::poll_client(std::size_t client) {
  clients_[client].poll(now_);
  if (!clients_[client].violation().empty()) violation_ = clients_[client].violation();
}

void SimulatedWorld::poll_replica(int replica) {
  group_.at(replica).replica->poll(now_);
  if (group_.at(replica).replica) poll_roles(replica);
}

void SimulatedWorld::poll_roles(int replica) {
  const Agreement& agreement = group_.at(replica).replica->agreement();
  const Ballot ballot = agreement.ballot();
  if (ballot <= highest_ballot_ || agreement.role() != Role::kLeader) return;
  highest_ballot_ = ballot;
  ++tally_.leaderships;
  const Epoch epoch = agreement.status().epoch;  // changes with a ballot only
  if (epoch > highest_epoch_) {
    highest_epoch_ = epoch;
    ++tally_.epochs;
  }
}

void SimulatedWorld::post(Event event) { events_.push_back(std::move(event)); }

Value SimulatedWorld::operation_of(std::uint64_t client, std::uint64_t sequence) const {
  return workload_.commands[client % (1 << kSessionBits)][sequence - 1];
}

void SimulatedWorld::trace(const std::string& lines) {
  if (!options_.trace || trace_.size() >= kTraceLinesMax) return;
  std::istringstream in(lines);
  char time[32];
  std::snprintf(time, sizeof time, "%14.3f us  ", static_cast<double>(now_) / 1000.0);
  for (std::string line; std::getline(in, line);) trace_.push_back(time + line);
}

// ---- The end of a run -----------------------------------------------------------------------------------------------

void SimulatedWorld::check_silence() {
  BlockChecker::Moment moment{.now = now_, .clients_wait = workload_.open > 0};
  moment.progress = checkers.log.end().value() + workload_.history.size() - static_cast<std::size_t>(workload_.open);
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    if (!group_.at(replica).runs()) continue;
    moment.running += (std::uint64_t{1} << replica) + (std::uint64_t{group_.at(replica).incarnation.value()} << 32);
  }
  checkers.blocks.observe(moment, [this] { return cause_shown(); });
}

bool SimulatedWorld::cause_shown() const {
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    const auto why = static_cast<Blocked>((*pages[static_cast<std::size_t>(replica)])[ReplicaCounter::kBlockedWhy].get());
    if (group_.at(replica).runs() && why != Blocked::kNo && why != Blocked::kUnexplained) return true;
  }
  return false;
}

std::string SimulatedWorld::find_violation() const { return checkers.violation(); }

bool SimulatedWorld::finished() {
  if (faults_open_ > 0 || fences_open_ > 0) return false;
  if (calm_since_ == kNever) calm_down();
  if (blocks_for_good()) return events_.empty() && (idle_ || now_ >= calm_since_ + kBlockedNs);
  if (workload_.writes_left > 0 || workload_.open > 0) return false;
  if (!closing_) {
    closing_ = true;
    workload_.writes_left = 1;
    clients_.front().hurry(now_);
    return false;
  }
  return all_up_to_date();
}

bool SimulatedWorld::blocks_for_good() const { return options_.agreement == "2pc" && tally_.restarts > 0; }

// Every replica reports that it is blocked, and by which replicas: by the coordinator if that died, else by some that
// did. No client gets a wrong answer meanwhile.
void SimulatedWorld::check_blocked() {
  const bool coordinator_died = group_.at(0).incarnation > Incarnation(1);
  for (int replica = 0; replica < group_.replicas() && violation_.empty(); ++replica) {
    if (!group_.at(replica).replica) continue;
    const AgreementStatus status = group_.at(replica).replica->agreement().status();
    const bool joining = group_.at(replica).incarnation > Incarnation(1);
    if (!joining && !coordinator_died && replica != 0) continue;  // the status of the coordinator counts for all
    const ReplicaSet own = ReplicaSet::of(replica);
    bool died = !status.blocked_by.empty();
    for (const EndpointId by : status.blocked_by) died = died && group_.at(by.value()).incarnation > Incarnation(1);
    const ReplicaSet expected = joining ? own : coordinator_died ? ReplicaSet::of(0) : status.blocked_by;
    if (status.blocked && died && status.blocked_by == expected) continue;
    violation_ = describe_standstill("blocked, but not said") + "\n  by replica " + std::to_string(replica);
  }
  if (violation_.empty()) violation_ = find_linearizability_violation(workload_.history);
}

bool SimulatedWorld::all_up_to_date() const {
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    const auto& each = group_.at(replica).replica;
    if (each && each->applied() != checkers.log.end()) return false;
  }
  return true;
}

void SimulatedWorld::calm_down() {
  calm_since_ = now_;
  network.all_links_normal();
  pressed = false;
  for (Client& client : clients_) client.hurry(now_);
  trace("faults have stopped");
}

void SimulatedWorld::check_at_rest() {
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    if (!group_.at(replica).replica) continue;
    checkers.effects.check_durability(replica);
    checkers.effects.check_refused(replica);
    checkers.digests.applied(replica, group_.at(replica).replica->applied(), group_.at(replica).replica->digest());
  }
  violation_ = find_violation();
  if (violation_.empty()) violation_ = find_linearizability_violation(workload_.history);
}

std::string SimulatedWorld::describe_standstill(const char* what) const {
  std::ostringstream out;
  out << what << ": " << workload_.open << " operations are not answered, " << checkers.log.end()
      << " slots are decided somewhere";
  for (const Client& client : clients_) out << "\n  " << client.describe();
  for (int replica = 0; replica < group_.replicas(); ++replica) {
    const Place& place = group_.at(replica);
    out << "\n  replica " << replica << ": ";
    if (!place.replica) {
      out << "dead";
      continue;
    }
    std::string status = testing::describe_status(place.replica->agreement().status());
    status.pop_back();  // the line feed
    out << "applied " << place.replica->applied() << ", " << status;
  }
  return out.str();
}

Outcome run(const Options& options) {
  left_out = options.mutant;
  Outcome outcome = SimulatedWorld(options).run();
  left_out = {};
  return outcome;
}

void Tally::add(const Tally& other) {
  const auto fields = [](Tally& tally) {
    return std::array{&tally.events,
                      &tally.steps,
                      &tally.messages,
                      &tally.dropped,
                      &tally.decided,
                      &tally.writes,
                      &tally.no_space,
                      &tally.unacknowledged_writes,
                      &tally.reads,
                      &tally.repeats,
                      &tally.snapshots,
                      &tally.written,
                      &tally.published,
                      &tally.snapshot_messages,
                      &tally.relayed,
                      &tally.unknown,
                      &tally.salvages,
                      &tally.histories,
                      &tally.fences,
                      &tally.restarts,
                      &tally.released,
                      &tally.kept_full,
                      &tally.dead_for_good,
                      &tally.both_lost,
                      &tally.everybody_lost,
                      &tally.leaderships,
                      &tally.epochs,
                      &tally.virtual_us,
                      &tally.refused_moves,
                      &tally.stops_told};
  };
  Tally copy = other;
  const auto mine = fields(*this);
  const auto theirs = fields(copy);
  for (std::size_t i = 0; i < mine.size(); ++i) *mine[i] += *theirs[i];
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += other.faults[i];
}

}  // namespace ingot::simulation
