// The configuration log: each entry names the leader and the acceptor. A majority Paxos among the voters, one entry at
// a time, off the normal path. docs/agreement.md explains which guarantees depend on it.
//
// A voter's stored state (StableWrite::Kind::kConfiguration), written as a whole at each change:
//   u64 index of the epoch's first entry, u64 index of the next entry kept, u32 count, each `bytes`
//   its vote for the next index: u64 promised, u64 accepted (0: none), `bytes` of the accepted entry
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica_set.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/one_paxos/config_entry.h"
#include "replication/agreement/peers.h"

namespace ingot::inline replication_agreement_one_paxos {

// Keeps the entries of the current epoch: the last AcceptorChange, which makes everything before it history, and the
// newest LeaderChanges after it (AgreementBounds::leader_changes). The older ones are needed only if as many leaders in
// a row ended before they led, and then only for the walk-back. Entry 1 is the same on all replicas. A proposal may be
// chosen after its author gave it up or died: only the log tells what was chosen. Not thread-safe.
class ConfigLog {
 public:
  // REQUIRES: the other objects outlive this.
  ConfigLog(const GroupConfig& group, const Peers& peers, const Learner& learner, Mailbox& mailbox);

  // Stores what was inherited.
  void start(Effects& effects);

  std::uint64_t tip() const { return next_kept_ + entries_.size() - 2; }
  Epoch epoch() const { return Epoch(first_); }
  bool keeps(std::uint64_t index) const { return index == first_ || (index >= next_kept_ && index <= tip()); }
  // REQUIRES: keeps(index).
  const ConfigEntry& at(std::uint64_t index) const { return *decided(index).entry; }
  const ConfigEntry& last() const { return *entries_.back().entry; }

  // Writes the entry once a majority is ready to choose it. Only then does the author pay the price of its proposal (a
  // leader stops its Accepts). Slots below `known` are decided here and on each voter of that majority that has caught
  // up, as it has just reported. Called at most once for each propose().
  using Author = std::function<ConfigEntry(Slot known, Effects&)>;

  // Tries until the author's entry, or another proposer's, is chosen at tip() + 1, or until give_up.
  // REQUIRES: votes(), !proposing().
  void propose(Author author, Effects& effects);
  bool proposing() const { return phase_ != Phase::kIdle; }
  // The author has written its entry: it may be chosen from now on.
  bool committed() const { return proposing() && mine_ != nullptr; }
  // Stops trying. A committed entry may still be chosen.
  void give_up() { phase_ = Phase::kIdle; }
  // The proposal under way has long waited for a majority.
  bool starved() const { return proposing() && rounds_ >= kStarvedRounds; }
  // Voters that have not answered in the present round.
  ReplicaSet unanswered() const { return ReplicaSet::first(voters_) - answered_ - ReplicaSet::of(self_); }

  // Whether this replica is a voter and has its predecessor's votes (if it has a predecessor).
  bool votes() const { return voting_; }

  // One of the kConfig messages.
  void receive(EndpointId from, const Message& message, Effects& effects);

  // Asks `peer` for entries above the tip; the message also tells the peer this replica's tip.
  void ask(EndpointId peer, Effects& effects);
  void tell(EndpointId peer, std::uint64_t known_tip, Effects& effects);

  // Messages to `peer` may be lost, or it is a new incarnation of a voter: sends it the round under way again.
  void resend(EndpointId peer, Effects& effects);

  void tick(Effects& effects);
  bool wants_tick() const { return proposing() || asked_; }

 private:
  enum class Phase { kIdle, kPrepare, kAccept, kBackOff };
  using Bytes = std::shared_ptr<const std::string>;
  struct Decided {
    Bytes bytes;
    std::shared_ptr<const ConfigEntry> entry;
  };
  static constexpr int kStarvedRounds = 4;

  bool inherit(std::string_view stored);
  void store(Effects& effects);
  void start_round(Effects& effects);
  Message round() const;
  void send_round(Effects& effects);
  void back_off();
  bool is_next(EndpointId from, const Message& message, Effects& effects);
  void on_prepare(EndpointId from, const Message& message, Effects& effects);
  void on_promise(EndpointId from, const Message& message, Effects& effects);
  void on_accept(EndpointId from, const Message& message, Effects& effects);
  void on_accepted(EndpointId from, const Message& message, Effects& effects);
  void on_reject(const Message& message);
  void on_decided(EndpointId from, const Message& message, Effects& effects);
  bool append(std::uint64_t index, Bytes bytes, bool after_gap, Effects& effects);
  const Decided& decided(std::uint64_t index) const {
    return index == first_ ? entries_.front() : entries_[index - next_kept_ + 1];
  }
  bool majority() const;
  Slot next_index() const { return Slot(tip() + 1); }

  const Peers& peers_;
  const Learner& learner_;
  Mailbox& mailbox_;
  EndpointId self_;
  int voters_;
  bool voting_;
  bool inheriting_ = false;
  const std::size_t leader_changes_;  // kept
  std::uint64_t first_ = 1;
  std::uint64_t next_kept_ = 2;    // index of the second of entries_, if there is one
  std::vector<Decided> entries_;   // that of the epoch, then the newest, without gaps

  // As voter, for tip() + 1.
  std::uint64_t promised_ = 0;
  std::uint64_t accepted_ = 0;  // of the accepted entry; 0: none
  Bytes accepted_entry_;

  // As proposer, for tip() + 1.
  Phase phase_ = Phase::kIdle;
  Author author_;
  Bytes mine_;                      // null: not written yet
  Bytes value_;                     // mine_, or the entry that a voter had accepted
  std::uint64_t number_ = 0;        // the round's
  std::uint64_t highest_seen_ = 0;  // of any other proposer
  std::uint64_t best_ = 0;          // of the vote that value_ was taken from
  ReplicaSet answered_;             // voters that said yes in this phase
  Slot known_;                      // kPrepare: the lowest decided slot of the promising voters that have caught up
  int rounds_ = 0;
  int ticks_ = 0;
  int wait_ticks_ = 0;

  bool asked_ = false;  // an answer may be on its way
  EndpointId asked_peer_;
  int asked_ticks_ = 0;
  int asked_times_ = 0;
};

}  // namespace ingot::replication_agreement_one_paxos
