#include "tests/replication/agreement/checkers.h"

#include <utility>

#include "replication/agreement/messages.h"

namespace ingot::testing {

namespace {

std::string at(Slot slot) { return "slot " + std::to_string(slot.value()); }
std::string who(int replica) { return "replica " + std::to_string(replica); }

bool holds(const std::map<Slot, std::string>& slots, Slot slot, std::string_view command) {
  const auto found = slots.find(slot);
  return found != slots.end() && found->second == command;
}

}  // namespace

void OrderChecker::decided(int replica, const Decision& decision) {
  Slot& next = next_[static_cast<std::size_t>(replica)];
  if (decision.slot != next) object(who(replica) + " decides " + at(decision.slot) + " instead of " + at(next));
  next = decision.slot.next();
  const auto [known, fresh] = log_.emplace(decision.slot, *decision.command);
  if (!fresh && known->second != *decision.command) {
    object(who(replica) + " decides `" + *decision.command + "` in " + at(decision.slot) + ", another decided `" +
           known->second + "`");
  }
}

void OrderChecker::installed(int replica, Slot first_undecided) {
  Slot& next = next_[static_cast<std::size_t>(replica)];
  next = std::max(next, first_undecided);
}

void ProposalChecker::check(const std::map<Slot, std::string>& log) {
  std::set<std::string> decided;
  std::size_t no_ops = 0;
  for (const auto& [slot, command] : log) {
    if (command.empty()) {
      ++no_ops;
    } else if (id_of_.count(command) == 0) {
      object(at(slot) + " decides `" + command + "`, which nobody proposed");
    } else if (!decided.insert(command).second) {
      object("`" + command + "` is decided twice");
    }
  }
  if (no_ops > rejected_.size() && excused_.empty()) object("more no-ops than rejected commands");
  for (const auto& [command, id] : id_of_) {
    const bool was_rejected = rejected_.count(id) > 0;
    const bool was_decided = decided.count(command) > 0;
    if (was_rejected && was_decided) object("`" + command + "` was rejected and decided");
    if (!was_rejected && !was_decided && excused_.count(id) == 0) object("`" + command + "` was never decided");
  }
}

void ProposalChecker::check_rejected(const std::map<Slot, std::string>& log) {
  for (const auto& [slot, command] : log) {
    const auto proposed = id_of_.find(command);
    if (proposed == id_of_.end() || rejected_.count(proposed->second) == 0) continue;
    object(at(slot) + " decides `" + command + "`, which was rejected");
  }
}

void ReadChecker::answered(std::uint64_t id, Slot applied) {
  const auto read = floor_at_start_.find(id);
  if (read == floor_at_start_.end()) return object("read " + std::to_string(id) + " is answered twice or unasked");
  if (applied < read->second) {
    object("read " + std::to_string(id) + " sees slots below " + std::to_string(applied.value()) +
           " though slots below " + std::to_string(read->second.value()) + " were known before it began");
  }
  floor_at_start_.erase(read);
  acknowledged(applied);
}

void ReadChecker::check() {
  if (!floor_at_start_.empty()) {
    object("read " + std::to_string(floor_at_start_.begin()->first) + " was never answered");
  }
}

StableChecker::StableChecker(std::string kind, int replicas, int voters)
    : kind_(std::move(kind)),
      replicas_(replicas),
      voters_(voters),
      accepted_(static_cast<std::size_t>(replicas)),
      proposed_(static_cast<std::size_t>(replicas)),
      outcomes_(static_cast<std::size_t>(replicas)) {}

void StableChecker::saw(int replica, const Effects& effects) {
  for (const StableWrite& write : effects.stable) store(replica, write);
  for (const Outgoing& outgoing : effects.messages) {
    check(replica, outgoing.message.joined());
    if (!outgoing.holders.empty()) check_brief(replica, outgoing);
  }
  for (const Decision& decision : effects.decided) {
    if (!decision.command->empty() && !enough(holders(decision.slot, *decision.command))) {
      object(who(replica) + " decides " + at(decision.slot) + " before enough have stored it");
    }
  }
}

void StableChecker::store(int replica, const StableWrite& write) {
  const auto index = static_cast<std::size_t>(replica);
  if (write.kind == StableWrite::Kind::kAccepted) accepted_[index][write.slot] = *write.command;
  if (write.kind == StableWrite::Kind::kProposed) proposed_[index][write.slot] = *write.command;
  if (write.kind != StableWrite::Kind::kOutcome) return;
  const bool commit = write.ballot.value() == 1;
  const auto [known, fresh] = outcomes_[index].emplace(write.slot, commit);
  if (!fresh && known->second != commit) object(who(replica) + " changes the outcome of " + at(write.slot));
}

void StableChecker::check_brief(int replica, const Outgoing& outgoing) {
  const std::string whole = outgoing.message.joined();
  const std::string brief = outgoing.brief.joined();
  const auto learn = decode_message(whole);
  const auto chosen = decode_message(brief);
  const bool same = learn && chosen && learn->type == MessageType::kLearn && chosen->type == MessageType::kChosen &&
                    learn->epoch == chosen->epoch && learn->ballot == chosen->ballot && learn->slot == chosen->slot;
  if (!same) object(who(replica) + " sends a Chosen that says something else than its Learn");
}

int StableChecker::holders(Slot slot, const std::string& command) const {
  int count = 0;
  for (const Slots& slots : accepted_) count += holds(slots, slot, command) ? 1 : 0;
  return count;
}

bool StableChecker::enough(int holders) const {
  if (kind_ == "1paxos") return holders >= 1;
  return kind_ == "2pc" ? holders == replicas_ : 2 * holders > voters_;
}

void StableChecker::check(int replica, const std::string& bytes) {
  const auto message = decode_message(bytes);
  if (!message) return object(who(replica) + " sends what nobody understands");
  const auto index = static_cast<std::size_t>(replica);
  const Slot slot = message->slot;
  const std::string command(message->payload);
  const auto demand = [&](bool condition, const char* what) {
    if (!condition) object(who(replica) + " sends " + name_of(message->type) + " of " + at(slot) + what);
  };
  switch (message->type) {
    case MessageType::kAccept:
      return demand(kind_ != "1paxos" || holds(proposed_[index], slot, command), " before it stored its proposal");
    case MessageType::kLearn:
      return demand(enough(holders(slot, command)), " before enough have stored it");
    case MessageType::kAccepted:
      return demand(accepted_[index].count(slot) > 0, " without having stored it");
    case MessageType::kTwoPhasePrepare:
      return demand(holds(accepted_[index], slot, command), " before it stored its own vote");
    case MessageType::kTwoPhaseVote:
      return demand(!message->verdict || accepted_[index].count(slot) > 0, " before it stored its vote");
    case MessageType::kTwoPhaseOutcome: {
      const auto stored = outcomes_[index].find(slot);
      return demand(stored != outcomes_[index].end() && stored->second == message->verdict, " that it has not stored");
    }
    default:
      return;
  }
}

}  // namespace ingot::testing
