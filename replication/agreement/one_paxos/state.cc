#include "replication/agreement/one_paxos/state.h"

#include <algorithm>

#include "core/rule.h"
#include "replication/stable/view.h"

namespace ingot::inline replication_agreement_one_paxos {

OnePaxosState::OnePaxosState(const GroupConfig& config)
    : group(config),
      mailbox(group),
      peers(group),
      learner(group.bounds),
      catch_up(group, learner, mailbox),
      log(group, peers, learner, mailbox),
      leader(group, mailbox),
      acceptor(group, mailbox) {}

// An overtaken leader steps down at once. Otherwise it would store commands as its proposals that it never proposed,
// and readers of its segment take proposals outside a window for decided.
void OnePaxosState::learn(Slot slot, const Command& command, Effects& effects) {
  if (leader.overtaken_by(slot, *command) && INGOT_RULE("window-is-own")) leader.step_down(group.self, effects);
  learner.learn(slot, command, effects);
  if (!INGOT_RULE("one-slot-each")) learner.learn(slot.next(), command, effects);
  leader.learned(slot, *command);
  leader.advance(learner.decided(), effects);
}

void OnePaxosState::learn_in_flight(Effects& effects) {
  const ConfigEntry& entry = epoch_entry();
  learner.note_known(entry.decided);
  for (const auto& [slot, command] : entry.in_flight) {
    if (slot < entry.decided && !learner.knows(slot)) learn(slot, command, effects);
  }
}

void OnePaxosState::learn_history(const StableView& segment, Effects& effects) {
  const auto learn_one = [&](Slot slot, const Command& command) {
    if (slot < catch_up.trimmed_below() && !learner.knows(slot)) learn(slot, command, effects);
  };
  for (const auto& [slot, command] : segment.history) learn_one(slot, command);
  for (const auto& [slot, entry] : segment.accepted) learn_one(slot, entry.command);
}

OnePaxosState::Slots OnePaxosState::proposals() const {
  Slots proposed;
  leader.for_each_proposal([&](Slot slot, const Proposal& each) { proposed[slot] = each.command; });
  return proposed;
}

Slot OnePaxosState::in_flight_end() const {
  const ConfigEntry& entry = epoch_entry();
  return entry.in_flight.empty() ? entry.decided : std::max(entry.decided, entry.in_flight.back().first.next());
}

std::vector<Leader::Recovered> OnePaxosState::recover(const Slots& found) const {
  Slots candidates = found;
  if (INGOT_RULE("in-flight-first")) {
    for (const auto& [slot, command] : epoch_entry().in_flight) candidates.emplace(slot, command);
  }
  Slot end = learner.known_end();
  if (!candidates.empty()) end = std::max(end, candidates.rbegin()->first.next());
  const auto no_op = std::make_shared<const std::string>();
  std::vector<Leader::Recovered> recovered;
  for (Slot slot = learner.decided(); slot < end; slot = slot.next()) {
    const Command known = INGOT_RULE("gap-is-undecided") ? learner.command(slot) : nullptr;
    const auto candidate = candidates.find(slot);
    if (known) recovered.push_back({known, true});
    else recovered.push_back({candidate != candidates.end() ? candidate->second : no_op, false});
  }
  return recovered;
}

void OnePaxosState::learn_outside_window(const Slots& found, Effects& effects) {
  const Slot first = learner.decided();
  const std::vector<Leader::Recovered> recovered = recover(found);
  std::size_t inside = recovered.empty() ? 0 : 1;
  for (std::size_t bytes = 0; inside < recovered.size(); ++inside) {
    bytes += recovered[recovered.size() - 1 - inside].command->size();
    if (inside >= static_cast<std::size_t>(group.bounds.window_slots) || bytes >= group.bounds.window_bytes) break;
  }
  for (std::size_t i = 0; i + inside < recovered.size(); ++i) {
    if (!learner.knows(first.plus(i))) learn(first.plus(i), recovered[i].command, effects);
  }
}

Slot OnePaxosState::repeat_from(Slot known, std::size_t undecided_bytes) const {
  const Slot floor = std::max(known, learner.log().first());
  Slot from = learner.decided();
  for (std::size_t bytes = 0; from > floor; from = Slot(from.value() - 1)) {
    bytes += learner.command(Slot(from.value() - 1))->size() + kInFlightSlotBytes;
    if (bytes > group.bounds.repeat_bytes || undecided_bytes + bytes > group.bounds.in_flight_bytes) break;
  }
  return from;
}

}  // namespace ingot::replication_agreement_one_paxos
