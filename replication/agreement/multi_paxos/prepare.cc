#include "replication/agreement/multi_paxos/prepare.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement_multi_paxos {

MultiPaxosPrepare::MultiPaxosPrepare(const GroupConfig& group, const Learner& learner, Mailbox& mailbox)
    : self_(group.self), voters_(group.voters), learner_(learner), mailbox_(mailbox) {}

void MultiPaxosPrepare::start(Ballot ballot, Effects& effects) {
  give_up();
  ballot_ = ballot;
  next_.assign(static_cast<std::size_t>(voters_), learner_.decided());
  timer_.progress();
  const Message prepare{
      .type = MessageType::kPrepare, .epoch = Epoch(1), .ballot = ballot_, .slot = learner_.decided()};
  mailbox_.send(self_, prepare, effects);  // first: promised and stored here before any peer receives it
  mailbox_.multicast(voters_, prepare, effects);
}

void MultiPaxosPrepare::give_up() {
  ballot_ = Ballot(0);
  complete_.clear();
  trimmed_ = Slot(0);
  found_.clear();
}

bool MultiPaxosPrepare::majority() const {
  return INGOT_RULE("vote-majority") ? 2 * complete_.size() > voters_ : 2 * complete_.size() >= voters_;
}

void MultiPaxosPrepare::ask(EndpointId voter, Effects& effects) {
  if (!under_way() || voter.value() >= voters_ || complete(voter)) return;
  const Slot from = std::max(next_[voter.value()], learner_.decided());
  mailbox_.send(
      voter, {.type = MessageType::kPrepare, .epoch = Epoch(1), .ballot = ballot_, .slot = from}, effects);
}

// Each part begins at the slot that was asked for. All votes of this voter below that slot had arrived, or their slots
// were decided, so no slot is left out.
void MultiPaxosPrepare::on_promise(EndpointId from, const Message& promise, Effects& effects) {
  if (from.value() >= voters_ || promise.epoch != Epoch(1)) return mailbox_.refuse();
  if (!under_way() || promise.ballot != ballot_) return;
  for (const Vote& vote : votes_of(promise)) {
    if (vote.slot < learner_.decided()) continue;
    Found& found = found_[vote.slot];
    if (found.command && (found.ballot >= vote.ballot || !INGOT_RULE("highest-ballot-wins"))) continue;
    found = {vote.ballot, std::make_shared<const std::string>(vote.command)};
  }
  found_.erase(found_.begin(), found_.lower_bound(learner_.decided()));
  trimmed_ = std::max(trimmed_, Slot(promise.number));
  const bool is_new = next_[from.value()] < promise.slot || promise.verdict;
  next_[from.value()] = std::max(next_[from.value()], promise.slot);
  if (!is_new) return;
  timer_.progress();
  if (promise.verdict) {
    complete_.insert(from);
  } else {
    ask(from, effects);
  }
}

bool MultiPaxosPrepare::ready() const {
  const bool knows_trimmed = learner_.decided() >= trimmed_ || !INGOT_RULE("trimmed-is-decided");
  return under_way() && majority() && knows_trimmed;
}

std::vector<Leader::Recovered> MultiPaxosPrepare::take() {
  INGOT_CHECK(ready());
  std::vector<Leader::Recovered> recovered;
  Slot end = learner_.known_end();
  if (!found_.empty()) end = std::max(end, found_.rbegin()->first.next());
  for (Slot slot = learner_.decided(); slot < end; slot = slot.next()) {
    auto command = learner_.command(slot);
    const auto found = found_.find(slot);
    if (!command && found != found_.end()) command = found->second.command;
    recovered.push_back({command ? command : std::make_shared<const std::string>(), false});
  }
  give_up();
  return recovered;
}

void MultiPaxosPrepare::tick(Effects& effects) {
  if (!under_way() || !timer_.due()) return;
  for (std::uint16_t voter = 0; voter < voters_; ++voter) ask(EndpointId(voter), effects);
}

}  // namespace ingot::replication_agreement_multi_paxos
