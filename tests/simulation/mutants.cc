#include "tests/simulation/mutants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "replication/agreement/messages.h"
#include "replication/agreement/one_paxos/config_entry.h"
#include "replication/stable/view.h"

namespace ingot::simulation {

namespace {

constexpr MutantFacts kFacts[] = {
    {Mutant::kForgottenPromise, "forgotten-promise", "a promise is not stored", "multipaxos", 3, 460},
    {Mutant::kForgottenVote, "forgotten-vote", "every fourth vote or acceptance is not stored", "1paxos", 4, 10},
    {Mutant::kForgottenProposal, "forgotten-proposal", "a leader does not store its proposals", "1paxos", 5, 140},
    {Mutant::kForgottenConfiguration, "forgotten-configuration", "votes in the configuration log are not stored",
     "1paxos", 3, 10},
    {Mutant::kDroppedInFlight, "dropped-in-flight", "an AcceptorChange carries nothing", "1paxos", 4, 900},
    {Mutant::kLearnTwice, "learn-twice", "a Learn is applied twice", "1paxos", 3, 10},
    {Mutant::kVoteCountedTwice, "vote-counted-twice", "a vote counts for another replica, too", "multipaxos", 5, 370},
    {Mutant::kNoTakenForYes, "no-taken-for-yes", "the coordinator reads a no as a yes", "2pc", 3, 25},
    {Mutant::kNameUsedTwice, "name-used-twice",
     "a new incarnation passes for the one before, and has forgotten everything", "1paxos", 3, 15},
    {Mutant::kReadWithoutAsking, "read-without-asking", "a leader answers reads without asking whether it still leads",
     "1paxos", 3, 10},
    {Mutant::kSnapshotOffByOne, "snapshot-off-by-one", "a snapshot counts for one slot more than it holds", "1paxos", 3,
     10},
    {Mutant::kGapFilledWithNoOp, "gap-filled-with-no-op", "a Learn is heard as a no-op", "1paxos", 3, 10},
    {Mutant::kMissingTakenForEmpty, "missing-taken-for-empty", "a segment that holds something is read as empty",
     "1paxos", 4, 10},
    {Mutant::kReusedEpoch, "reused-epoch", "an acceptor takes a newer epoch's Prepare for one of its own", "1paxos", 4,
     10},
    {Mutant::kMessagesBeforeStores, "messages-before-stores", "messages leave before what they rest on is stored",
     "1paxos", 4, 350},
    {Mutant::kForgottenHistory, "forgotten-history", "an acceptor of a new epoch drops what it had accepted before",
     "1paxos", 4, 480},
    {Mutant::kForgottenSessions, "forgotten-sessions", "a repeated request passes for a new one", "1paxos", 3, 10},
    {Mutant::kSalvageOfTheLiving, "salvage-of-the-living", "a stopped replica is taken for dead", "1paxos", 4, 60},
    {Mutant::kSuccessorWithoutVotes, "successor-without-votes",
     "a new incarnation is told that its predecessor stored nothing",
     "multipaxos", 3, 10},
};

bool is_vote(MessageType type) {
  return type == MessageType::kAccepted || type == MessageType::kReadConfirm || type == MessageType::kPromise ||
         type == MessageType::kTwoPhaseVote || type == MessageType::kConfigAccepted ||
         type == MessageType::kConfigPromise;
}

// Every method is the real agreement's, except for the bug.
class MutantAgreement final : public Agreement {
 public:
  MutantAgreement(Mutant mutant, std::unique_ptr<Agreement> agreement, const GroupConfig& group)
      : mutant_(mutant),
        agreement_(std::move(agreement)),
        group_(group),
        known_(static_cast<std::size_t>(group.replicas), Incarnation(1)),
        prng_(group.self.value() * 1000 + group.incarnation.value()) {}

  void start(Effects& effects) override {
    agreement_->start(effects);
    corrupt(effects);
  }
  void propose(std::uint64_t id, std::shared_ptr<const std::string> command, Effects& effects) override {
    agreement_->propose(id, std::move(command), effects);
    corrupt(effects);
  }
  bool can_propose() const override { return agreement_->can_propose(); }
  void read(std::uint64_t id, Effects& effects) override {
    const AgreementStatus status = agreement_->status();
    if (mutant_ == Mutant::kReadWithoutAsking && status.role == Role::kLeader) {
      effects.reads_ready.push_back({id, status.decided});
      return;
    }
    agreement_->read(id, effects);
    corrupt(effects);
  }
  void receive(EndpointId from, std::string_view bytes, Effects& effects) override;
  void tick(Effects& effects) override {
    agreement_->tick(effects);
    corrupt(effects);
  }
  bool wants_tick() const override { return agreement_->wants_tick(); }
  void peer_drained(EndpointId peer, Effects& effects) override {
    agreement_->peer_drained(peer, effects);
    corrupt(effects);
  }
  void applied(Slot applied, Effects& effects) override {
    agreement_->applied(applied, effects);
    corrupt(effects);
  }
  void compact(Slot keep_from, Effects& effects) override {
    agreement_->compact(keep_from, effects);
    corrupt(effects);
  }
  void installed(Slot first_undecided, Effects& effects) override {
    agreement_->installed(mutant_ == Mutant::kSnapshotOffByOne ? first_undecided.next() : first_undecided, effects);
    corrupt(effects);
  }
  void peer_died(ReplicaIncarnation name, Effects& effects) override {
    if (mutant_ == Mutant::kNameUsedTwice) return;
    agreement_->peer_died(name, effects);
    corrupt(effects);
  }
  void peer_started(ReplicaIncarnation name, Effects& effects) override {
    if (mutant_ == Mutant::kNameUsedTwice) return;
    agreement_->peer_started(name, effects);
    corrupt(effects);
  }
  void loading(bool begins) override { agreement_->loading(begins); }
  void history(const StableView& view, Effects& effects) override {
    agreement_->history(view, effects);
    corrupt(effects);
  }
  void salvaged(ReplicaIncarnation name, const StableView* view, Effects& effects) override {
    StableView empty;
    empty.replica = name.id;
    empty.incarnation = name.incarnation;
    agreement_->salvaged(name, mutant_ == Mutant::kMissingTakenForEmpty ? &empty : view, effects);
    corrupt(effects);
  }
  void client_waits(Effects& effects) override {
    agreement_->client_waits(effects);
    corrupt(effects);
  }
  absl::Status move(Role role, EndpointId to, Effects& effects) override {
    absl::Status status = agreement_->move(role, to, effects);
    corrupt(effects);
    return status;
  }
  AgreementStatus status() const override { return agreement_->status(); }
  Role role() const override { return agreement_->role(); }
  EndpointId leader() const override { return agreement_->leader(); }
  EndpointId acceptor() const override { return agreement_->acceptor(); }
  Ballot ballot() const override { return agreement_->ballot(); }
  Slot next_slot() const override { return agreement_->next_slot(); }
  std::size_t stored_bytes_max(std::string_view message) const override {
    return agreement_->stored_bytes_max(message);
  }
  std::uint64_t refused_messages() const override { return agreement_->refused_messages(); }

 private:
  void receive(EndpointId from, const Message& message, Effects& effects) {
    agreement_->receive(from, encode(message), effects);
  }
  void corrupt(Effects& effects);
  void forget_stores(Effects& effects);
  bool is_forgotten(const StableWrite& write);
  void drop_in_flight(Effects& effects);
  void learn_twice(Effects& effects);

  const Mutant mutant_;
  const std::unique_ptr<Agreement> agreement_;
  const GroupConfig group_;
  std::vector<Incarnation> known_;  // by replica: the newest incarnation heard of
  Prng prng_;
  std::size_t seen_stores_ = 0;
  std::uint64_t shift_ = 0;  // of slots: how many were decided twice
};

void MutantAgreement::receive(EndpointId from, std::string_view bytes, Effects& effects) {
  auto message = decode_message(bytes);
  if (!message) return agreement_->receive(from, bytes, effects);
  Incarnation& known = known_[from.value()];
  known = std::max(known, message->incarnation);
  if (mutant_ == Mutant::kNoTakenForYes && message->type == MessageType::kTwoPhaseVote) message->verdict = true;
  if (mutant_ == Mutant::kGapFilledWithNoOp && message->type == MessageType::kLearn && prng_.chance(0.02)) {
    message->payload = {};
  }
  if (mutant_ == Mutant::kReusedEpoch && message->type == MessageType::kPrepare && message->epoch.value() > 1) {
    message->epoch = Epoch(message->epoch.value() - 1);
  }
  receive(from, *message, effects);
  if (mutant_ == Mutant::kVoteCountedTwice && is_vote(message->type)) {
    const auto other = EndpointId(static_cast<std::uint16_t>((from.value() + 1) % group_.voters));
    message->incarnation = known_[other.value()];
    if (other != group_.self) receive(other, *message, effects);
  }
  corrupt(effects);
}

void MutantAgreement::corrupt(Effects& effects) {
  forget_stores(effects);
  if (mutant_ == Mutant::kDroppedInFlight) drop_in_flight(effects);
  if (mutant_ == Mutant::kLearnTwice) learn_twice(effects);
}

// The effects may be those of several inputs: each store is looked at once.
void MutantAgreement::forget_stores(Effects& effects) {
  if (effects.stable.size() < seen_stores_) seen_stores_ = 0;
  for (std::size_t i = seen_stores_; i < effects.stable.size();) {
    if (is_forgotten(effects.stable[i])) {
      effects.stable.erase(effects.stable.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  seen_stores_ = effects.stable.size();
}

bool MutantAgreement::is_forgotten(const StableWrite& write) {
  using Kind = StableWrite::Kind;
  switch (mutant_) {
    case Mutant::kForgottenPromise:
      return write.kind == Kind::kPromise;
    case Mutant::kForgottenVote:
      return write.kind == Kind::kAccepted && prng_.chance(0.25);
    case Mutant::kForgottenProposal:
      return write.kind == Kind::kProposed;
    case Mutant::kForgottenConfiguration:
      return write.kind == Kind::kConfiguration;
    default:
      return false;
  }
}

void MutantAgreement::drop_in_flight(Effects& effects) {
  for (Outgoing& outgoing : effects.messages) {
    const std::string sent = outgoing.message.joined();
    auto message = decode_message(sent);
    const bool has_entry = message && (message->type == MessageType::kConfigAccept ||
                                       message->type == MessageType::kConfigDecided);
    auto entry = has_entry ? decode_entry(message->payload, group_.voters) : std::nullopt;
    if (!entry || entry->in_flight.empty()) continue;
    entry->in_flight.clear();
    entry->decided = entry->base;
    const std::string bytes = encode_entry(*entry);
    message->payload = bytes;
    outgoing.message = gather(*message);
  }
}

// The decided slot is delivered a second time, as the next one; later slots move up by one.
void MutantAgreement::learn_twice(Effects& effects) {
  std::vector<Decision> decided;
  for (Decision& decision : effects.decided) {
    decision.slot = decision.slot.plus(shift_);
    decided.push_back(decision);
    if (!prng_.chance(0.02)) continue;
    ++shift_;
    decided.push_back({decision.slot.next(), decision.command});
  }
  effects.decided = std::move(decided);
}

}  // namespace

std::span<const MutantFacts> all_mutants() { return kFacts; }

const char* name_of(Mutant mutant) {
  for (const MutantFacts& facts : kFacts) {
    if (facts.mutant == mutant) return facts.name;
  }
  return "none";
}

std::optional<Mutant> mutant_named(std::string_view name) {
  for (const MutantFacts& facts : kFacts) {
    if (facts.name == name) return facts.mutant;
  }
  return std::nullopt;
}

std::unique_ptr<Agreement> mutate(Mutant mutant, std::unique_ptr<Agreement> agreement, const GroupConfig& group) {
  if (mutant == Mutant::kNone || mutant >= Mutant::kMessagesBeforeStores) return agreement;
  return std::make_unique<MutantAgreement>(mutant, std::move(agreement), group);
}

}  // namespace ingot::simulation
