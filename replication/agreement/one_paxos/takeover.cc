#include "replication/agreement/one_paxos/takeover.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/rule.h"

namespace ingot::inline replication_agreement_one_paxos {

void OnePaxosTakeover::begin(Effects& effects) {
  active_ = true;
  promised_ = full_ = again_ = false;
  need_ = INGOT_RULE("knows-base") ? state_.epoch_entry().base : Slot(0);
  state_.catch_up.note_trimmed(need_);
  state_.leader.freeze(effects);
  state_.learner.note_known(need_);
  prepare(effects);
  if (state_.now().acceptor.id != state_.group.self) state_.catch_up.step(state_.now().acceptor.id, effects);
}

Ballot OnePaxosTakeover::ballot() const {
  return INGOT_RULE("ballot-is-index") ? Ballot(state_.log.tip()) : state_.leader.ballot().next();
}

void OnePaxosTakeover::prepare(Effects& effects) {
  again_ = false;
  timer_.progress();
  const ConfigEntry& now = state_.now();
  state_.mailbox.send(now.acceptor.id,
                      {.type = MessageType::kPrepare,
                       .epoch = state_.log.epoch(),
                       .ballot = ballot(),
                       .slot = state_.learner.decided(),
                       .number = state_.epoch_entry().base.value(),
                       .target = now.acceptor.incarnation},
                      effects);
}

// Each page starts at the first slot undecided here, so slots that it leaves out came with an earlier page.
void OnePaxosTakeover::on_promise(EndpointId from, const Message& promise, Effects& effects) {
  const ReplicaIncarnation acceptor{from, promise.incarnation};
  const bool ours = active_ && acceptor == state_.now().acceptor && promise.epoch == state_.log.epoch() &&
                    promise.ballot == ballot();
  if (!ours) return;
  promised_ = true;
  full_ = false;
  if (INGOT_RULE("trim-is-told")) need_ = std::max(need_, Slot(promise.number));
  state_.catch_up.note_trimmed(need_);
  state_.learner.note_known(need_);
  state_.learn_in_flight(effects);
  if (state_.learner.decided() < need_) {
    again_ = true;
    if (from != state_.group.self) state_.catch_up.step(from, effects);
  } else if (!learn_votes(promise, effects)) {
    learn_outside_window(promise, effects);
  } else if (promise.verdict) {
    complete(promise.slot, effects);
  } else {
    prepare(effects);
  }
}

// An AcceptorChange carries the slots above a gap that its author knew to be decided as if they were undecided, and the
// author does not propose them again when it leads. So the acceptor lacks them, and its entries may lie too far ahead.
void OnePaxosTakeover::learn_outside_window(const Message& promise, Effects& effects) {
  if (state_.learner.known_end() > std::max(promise.slot, state_.in_flight_end())) return;
  OnePaxosState::Slots found;
  for (const Vote& vote : votes_of(promise)) found[vote.slot] = std::make_shared<const std::string>(vote.command);
  state_.learn_outside_window(found, effects);
}

// Returns false if some votes are too far above the slots decided here to be kept. A tick asks the acceptor again.
bool OnePaxosTakeover::learn_votes(const Message& promise, Effects& effects) {
  bool all_known = true;
  for (const Vote& vote : votes_of(promise)) {
    if (state_.learner.knows(vote.slot)) continue;
    state_.learn(vote.slot, std::make_shared<const std::string>(vote.command), effects);
    all_known = all_known && state_.learner.knows(vote.slot);
  }
  return all_known;
}

void OnePaxosTakeover::step(Effects& effects) {
  if (active_ && again_ && state_.learner.decided() >= need_) prepare(effects);
}

void OnePaxosTakeover::tick(Effects& effects) {
  if (active_ && timer_.due() && !state_.peers.dead(state_.now().acceptor)) prepare(effects);
}

// Stores everything in the segment, learned or not: a later reader of the segment may know less. A slot known above
// both the acceptor's entries and the in-flight entries is a newer leader's proposal: then this promise is outdated,
// and proves nothing about the slots in between.
void OnePaxosTakeover::complete(Slot accepted_end, Effects& effects) {
  if (state_.has_led() && !state_.leader.frozen()) return;  // a decided slot has shown that another replica leads
  const bool overtaken = state_.learner.known_end() > std::max(accepted_end, state_.in_flight_end());
  if (overtaken && INGOT_RULE("window-is-own")) return;
  const bool led = state_.has_led() && INGOT_RULE("own-window-again");
  const OnePaxosState::Slots own = led ? state_.proposals() : OnePaxosState::Slots{};
  state_.learn_outside_window(own, effects);
  std::vector<Leader::Recovered> recovered = state_.recover(own);
  const Slot decided = state_.learner.decided();
  // A newer leader exists, or messages are still on their way: a tick asks again.
  if (state_.learner.end() > decided.plus(recovered.size())) return;
  if (!INGOT_RULE("repropose")) recovered.clear();
  std::vector<StableWrite> writes = takeover_writes(decided, recovered);
  full_ = !state_.room.take(writes);
  if (full_ && INGOT_RULE("takeover-has-room")) return;  // a tick asks again
  std::move(writes.begin(), writes.end(), std::back_inserter(effects.stable));
  state_.leader.set_acceptor(state_.now().acceptor.id);
  if (!state_.leader.lead(state_.log.epoch(), ballot(), decided, recovered, effects)) return;
  active_ = false;
  // Decided slots above a gap count, too: they are not proposed again, so no other message need name them.
  const Slot known = state_.learner.end();
  if (known.value() > 0) state_.mailbox.broadcast({.type = MessageType::kCommitHint, .slot = known}, effects);
}

// The slots that voters may lack, then `recovered`, from the first undecided slot on, then the leadership itself.
std::vector<StableWrite> OnePaxosTakeover::takeover_writes(Slot decided,
                                                           const std::vector<Leader::Recovered>& recovered) const {
  const Epoch epoch = state_.log.epoch();
  const Ballot ballot = this->ballot();
  std::size_t bytes = 0;
  for (const auto& each : recovered) bytes += each.command->size() + kInFlightSlotBytes;
  const Slot from = state_.repeat_from(state_.now().base, bytes);
  std::vector<StableWrite> writes;
  const auto propose = [&](Slot slot, OnePaxosState::Command command) {
    if (!INGOT_RULE("proposal-stored")) return;
    writes.push_back({StableWrite::Kind::kProposed, epoch, ballot, slot, std::move(command)});
  };
  for (Slot slot = from; slot < decided; slot = slot.next()) propose(slot, state_.learner.command(slot));
  for (std::size_t i = 0; i < recovered.size(); ++i) propose(decided.plus(i), recovered[i].command);
  writes.push_back({StableWrite::Kind::kLeading, epoch, ballot, from, nullptr});
  return writes;
}

}  // namespace ingot::replication_agreement_one_paxos
