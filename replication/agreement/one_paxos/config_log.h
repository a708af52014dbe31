// The configuration log: who leads and who accepts, entry by entry. Off the normal path, a majority Paxos among the
// voters, one entry at a time. docs/agreement.md says what rests on it.
//
// What a voter stores (StableWrite::Kind::kConfiguration), all of it at each change:
//   u64 index of the first decided entry kept, u32 count, each `bytes`
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
#include "replication/agreement/mailbox.h"
#include "replication/agreement/peers.h"
#include "replication/agreement/one_paxos/config_entry.h"
#include "replication/agreement/learner.h"

namespace ingot {

// Keeps the entries of the current epoch: from the last AcceptorChange on, which makes everything before it history.
// Entry 1 is the same on all replicas. A proposal may be chosen after its author gave it up or died: only the log says
// what was chosen. Not thread-safe.
class ConfigLog {
 public:
  // REQUIRES: the others outlive this.
  ConfigLog(const GroupConfig& group, const Peers& peers, const Learner& learner, Mailbox& mailbox);

  // Stores what was inherited.
  void start(Effects& effects);

  std::uint64_t tip() const { return first_ + entries_.size() - 1; }
  Epoch epoch() const { return Epoch(first_); }
  // REQUIRES: epoch() <= index <= tip().
  const ConfigEntry& at(std::uint64_t index) const { return *entries_[index - first_].entry; }
  const ConfigEntry& last() const { return *entries_.back().entry; }

  // Writes the entry when a majority is there to choose it: what an author must give up for its proposal (a leader, its
  // Accepts) it gives up then and not before. The slots below `known` are decided here, and at each voter of that majority
  // that has caught up: it has just said so. Called at most once for a propose().
  using Author = std::function<ConfigEntry(Slot known, Effects&)>;

  // Has the author's entry chosen at tip() + 1, or somebody else's; goes on until one is, or until give_up. REQUIRES:
  // votes(), !proposing().
  void propose(Author author, Effects& effects);
  bool proposing() const { return phase_ != Phase::kIdle; }
  // The author has written its entry: it may be chosen, whatever happens here.
  bool committed() const { return proposing() && mine_ != nullptr; }
  // Stops trying. What was committed may be chosen all the same.
  void give_up() { phase_ = Phase::kIdle; }
  // The proposal under way has waited for a majority for long.
  bool starved() const { return proposing() && rounds_ >= kStarvedRounds; }

  // A voter, with its predecessor's votes where it had one.
  bool votes() const { return voting_; }

  // One of the kConfig messages.
  void receive(EndpointId from, const Message& message, Effects& effects);

  // Asks for entries above the tip; shows a peer the tip.
  void ask(EndpointId peer, Effects& effects);
  void tell(EndpointId peer, std::uint64_t known_tip, Effects& effects);

  // What was said to a peer may be lost, or it is a new incarnation of a voter: says what is under way again.
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
  bool append(std::uint64_t index, Bytes bytes, Effects& effects);
  bool majority() const;
  Slot next_index() const { return Slot(tip() + 1); }

  const Peers& peers_;
  const Learner& learner_;
  Mailbox& mailbox_;
  EndpointId self_;
  int voters_;
  bool voting_;
  bool inheriting_ = false;
  std::uint64_t first_ = 1;
  std::vector<Decided> entries_;

  // As voter, for tip() + 1.
  std::uint64_t promised_ = 0;
  std::uint64_t accepted_ = 0;  // 0: nothing was
  Bytes accepted_entry_;

  // As proposer, for tip() + 1.
  Phase phase_ = Phase::kIdle;
  Author author_;
  Bytes mine_;   // null: not written yet
  Bytes value_;  // mine_, or what a voter had accepted
  std::uint64_t number_ = 0;  // of this round
  std::uint64_t highest_seen_ = 0;   // the highest of somebody else
  std::uint64_t best_ = 0;    // the highest under which a voter had accepted value_
  ReplicaSet answered_;  // voters that said yes in this phase
  Slot known_;                  // kPrepare: the lowest that one of them had decided who had caught up
  int rounds_ = 0;
  int ticks_ = 0;
  int wait_ticks_ = 0;

  bool asked_ = false;  // an answer may be on its way
  EndpointId asked_peer_;
  int asked_ticks_ = 0;
  int asked_times_ = 0;
};

}  // namespace ingot
