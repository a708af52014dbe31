// The simple model of a stable segment, and a script of random writes that a writer may make.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "core/prng.h"
#include "core/stable_hash.h"
#include "replication/agreement/agreement.h"
#include "replication/stable/view.h"

namespace ingot {

// Keeps in maps what the segment finds by filtering records: drops at once all that no longer counts.
class StableModel {
 public:
  StableModel(EndpointId replica, Incarnation incarnation) {
    state_.replica = replica;
    state_.incarnation = incarnation;
  }

  const StableView& state() const { return state_; }

  // Injects a bug, for tests of its effects.
  void forget_history() { state_.history.clear(); }

  void apply(const StableWrite& write) {
    using Kind = StableWrite::Kind;
    switch (write.kind) {
      case Kind::kPromise:
        begin_epoch(write.epoch);
        state_.promised = write.ballot;
        break;
      case Kind::kAccepted:
        begin_epoch(write.epoch);
        if (write.slot >= state_.trimmed) state_.accepted[write.slot] = {write.ballot, write.command};
        break;
      case Kind::kOutcome:
        begin_epoch(write.epoch);
        if (write.slot >= state_.trimmed) state_.committed[write.slot] = write.ballot.value() != 0;
        break;
      case Kind::kProposed:
        if (write.ballot < state_.leader_ballot) break;
        if (write.ballot == state_.leader_ballot && write.slot < state_.leader_trimmed) break;
        state_.proposed[write.ballot][write.slot] = write.command;
        break;
      case Kind::kLeading:
        if (write.ballot > state_.leader_ballot) state_.leader_trimmed = Slot(0);
        if (write.slot > state_.leader_trimmed) state_.leader_trimmed = write.slot;
        state_.leader_epoch = write.epoch;
        state_.leader_ballot = write.ballot;
        state_.proposed.erase(state_.proposed.begin(), state_.proposed.lower_bound(write.ballot));
        trim_proposed();
        break;
      case Kind::kTrimmed:
        trim(write.slot);
        break;
      case Kind::kConfiguration:
        state_.configuration = *write.command;
        break;
    }
  }

 private:
  void begin_epoch(Epoch epoch) {
    if (epoch == state_.epoch) return;
    state_.epoch = epoch;
    state_.promised = Ballot(0);
    for (const auto& [slot, entry] : state_.accepted) state_.history[slot] = entry.command;
    state_.accepted.clear();
    state_.committed.clear();
  }

  void trim(Slot keep_from) {
    if (keep_from > state_.trimmed) state_.trimmed = keep_from;
    if (keep_from > state_.leader_trimmed) state_.leader_trimmed = keep_from;
    state_.accepted.erase(state_.accepted.begin(), state_.accepted.lower_bound(state_.trimmed));
    state_.committed.erase(state_.committed.begin(), state_.committed.lower_bound(state_.trimmed));
    state_.history.erase(state_.history.begin(), state_.history.lower_bound(state_.trimmed));
    trim_proposed();
  }

  void trim_proposed() {
    const auto leading = state_.proposed.find(state_.leader_ballot);
    if (leading == state_.proposed.end()) return;
    leading->second.erase(leading->second.begin(), leading->second.lower_bound(state_.leader_trimmed));
    if (leading->second.empty()) state_.proposed.erase(leading);
  }

  StableView state_;
};

// One line an item, with commands by length and hash; equal texts mean equal states.
inline std::string to_text(const StableView& view) {
  std::string text =
      "replica " + std::to_string(view.replica.value()) + "." + std::to_string(view.incarnation.value()) + "\nepoch " +
      std::to_string(view.epoch.value()) + " promised " + std::to_string(view.promised.value()) + " trimmed " +
      std::to_string(view.trimmed.value()) + "\nleader epoch " + std::to_string(view.leader_epoch.value()) +
      " ballot " + std::to_string(view.leader_ballot.value()) + " trimmed " +
      std::to_string(view.leader_trimmed.value()) + "\n";
  const auto line = [&text](const char* what, Slot slot, Ballot ballot, const std::string& command) {
    text += what + std::to_string(slot.value()) + " ballot " + std::to_string(ballot.value()) + " bytes " +
            std::to_string(command.size()) + " hash " + std::to_string(hash_bytes(command)) + "\n";
  };
  for (const auto& [slot, entry] : view.accepted) line("accepted ", slot, entry.ballot, *entry.command);
  for (const auto& [slot, command] : view.history) line("history ", slot, Ballot(0), *command);
  for (const auto& [slot, committed] : view.committed) {
    text += (committed ? "committed " : "aborted ") + std::to_string(slot.value()) + "\n";
  }
  for (const auto& [ballot, slots] : view.proposed) {
    for (const auto& [slot, command] : slots) line("proposed ", slot, ballot, *command);
  }
  line("configuration ", Slot(0), Ballot(0), view.configuration);
  return text;
}

// The same seed gives the same writes. Each leaves room for the next: all slots are released every `round_writes`.
class StableScript {
 public:
  StableScript(std::uint64_t seed, std::size_t command_bytes_max, int round_writes)
      : prng_(seed), command_bytes_max_(command_bytes_max), round_writes_(round_writes) {}

  StableWrite next() {
    using Kind = StableWrite::Kind;
    if (++writes_ % round_writes_ == 0) return {Kind::kPromise, epoch_ = epoch_.next(), Ballot(7), Slot(0), nullptr};
    if (writes_ % round_writes_ == 1) return lead(3);
    const std::uint64_t dice = prng_.below(100);
    if (prng_.below(50) == 0) return {Kind::kConfiguration, {}, {}, {}, configuration()};
    if (dice < 45) return {Kind::kAccepted, epoch_, Ballot(7), any_slot(), command()};
    if (dice < 75) return {Kind::kProposed, Epoch(1), ballot_.plus(prng_.below(2)), any_slot(), command()};
    if (dice < 84) return {Kind::kOutcome, epoch_, Ballot(prng_.below(2)), any_slot(), nullptr};
    if (dice < 94) return {Kind::kTrimmed, epoch_, Ballot(7), trimmed_ = any_slot(), nullptr};
    if (dice < 96) return lead(prng_.below(2));
    if (dice < 98) return {Kind::kPromise, epoch_ = epoch_.plus(prng_.below(2)), Ballot(7), Slot(0), nullptr};
    return {Kind::kAccepted, epoch_ = epoch_.next(), Ballot(0), any_slot(), command()};  // an epoch without a promise
  }

 private:
  StableWrite lead(std::uint64_t newer) {
    return {StableWrite::Kind::kLeading, Epoch(1), ballot_ = ballot_.plus(newer), any_slot(), nullptr};
  }

  // Mostly above the trimmed slots, sometimes below.
  Slot any_slot() { return Slot(trimmed_.value() + prng_.below(20) - std::min<std::uint64_t>(trimmed_.value(), 2)); }

  std::shared_ptr<const std::string> command() {
    std::string text(prng_.chance(0.9) ? prng_.below(200) : prng_.below(command_bytes_max_ + 1), '\0');
    std::uint64_t word = prng_();
    for (char& character : text) character = static_cast<char>(word = word * 25 + 1);
    return std::make_shared<const std::string>(std::move(text));
  }

  // As large as the smallest segment of a test has room for.
  std::shared_ptr<const std::string> configuration() {
    return std::make_shared<const std::string>(prng_.below(4000), static_cast<char>('a' + prng_.below(26)));
  }

  Prng prng_;
  const std::size_t command_bytes_max_;
  const int round_writes_;
  int writes_ = 0;
  Epoch epoch_{1};
  Ballot ballot_{1};
  Slot trimmed_;
};

}  // namespace ingot
