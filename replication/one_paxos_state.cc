#include "replication/one_paxos_state.h"

#include <algorithm>

namespace ingot {

OnePaxosState::OnePaxosState(const GroupConfig& config)
    : group(config),
      mailbox(group),
      peers(group),
      learner(group.bounds),
      catch_up(group, learner, mailbox),
      log(group, mailbox),
      leader(group, mailbox),
      acceptor(group, mailbox) {
  keep(Slot(0));
}

// Else a short log would raise the base of the next AcceptorChange above the snapshot, and what lies between would be
// in memories only.
void OnePaxosState::keep(Slot keep_from) {
  kept_from = std::max(kept_from, keep_from);
  learner.hold(kept_from, kCarrySlotBytes, group.bounds.carry_bytes);
}

void OnePaxosState::learn(Slot slot, const Command& command, Effects& effects) {
  learner.learn(slot, command, effects);
  leader.learned(slot, *command);
  leader.advance(learner.decided(), effects);
}

void OnePaxosState::learn_carry(Effects& effects) {
  const ConfigEntry& entry = epoch_entry();
  learner.heard_of(entry.decided);
  for (const auto& [slot, command] : entry.carry) {
    if (slot < entry.decided && !learner.knows(slot)) learn(slot, command, effects);
  }
}

// What was found goes before what the carry has.
OnePaxosState::Slots OnePaxosState::proposed(const Slots& found) const {
  Slots all = found;
  for (const auto& [slot, command] : epoch_entry().carry) all.emplace(slot, command);
  return all;
}

std::vector<Leader::Recovered> OnePaxosState::recover(const Slots& found) const {
  const Slots all = proposed(found);
  return recover(all, all.empty() ? learner.known_end() : std::max(learner.known_end(), all.rbegin()->first.next()));
}

std::vector<Leader::Recovered> OnePaxosState::recover(const Slots& proposed, Slot end) const {
  const auto no_op = std::make_shared<const std::string>();
  std::vector<Leader::Recovered> recovered;
  for (Slot slot = learner.decided(); slot < end; slot = slot.next()) {
    const Command known = learner.command(slot);
    const auto candidate = proposed.find(slot);
    if (known) recovered.push_back({known, true});
    else recovered.push_back({candidate != proposed.end() ? candidate->second : no_op, false});
  }
  return recovered;
}

// How many of them, from the first on.
std::size_t OnePaxosState::outside_window(const std::vector<Leader::Recovered>& slots) const {
  std::size_t inside = slots.empty() ? 0 : 1;
  for (std::size_t bytes = 0; inside < slots.size(); ++inside) {
    bytes += slots[slots.size() - 1 - inside].command->size();
    if (inside >= static_cast<std::size_t>(group.bounds.window_slots) || bytes >= group.bounds.window_bytes) break;
  }
  return slots.size() - inside;
}

bool OnePaxosState::learn_outside_window(const Slots& found, Effects& effects) {
  const Slots all = proposed(found);
  if (!all.empty()) {
    const Slot first = learner.decided();
    const std::vector<Leader::Recovered> recovered = recover(all, all.rbegin()->first.next());
    for (std::size_t i = 0, outside = outside_window(recovered); i < outside; ++i) {
      const Slot slot = first.plus(i);
      if (!learner.knows(slot) && all.contains(slot)) learn(slot, recovered[i].command, effects);
    }
  }
  const std::vector<Leader::Recovered> left = recover(found);
  const auto outside = left.begin() + static_cast<std::ptrdiff_t>(outside_window(left));
  return std::all_of(left.begin(), outside, [](const Leader::Recovered& each) { return each.decided; });
}

Slot OnePaxosState::repeat_from(std::size_t undecided_bytes) const {
  const Slot floor = std::max(kept_from, learner.log().first());
  Slot from = learner.decided();
  for (std::size_t bytes = undecided_bytes; from > floor; from = Slot(from.value() - 1)) {
    bytes += learner.command(Slot(from.value() - 1))->size() + kCarrySlotBytes;
    if (bytes > group.bounds.carry_bytes) break;
  }
  return from;
}

}  // namespace ingot
