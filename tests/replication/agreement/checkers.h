// Checkers of a simulated run. They see inputs and outputs, and know nothing of how a protocol works inside.
//
// Each keeps the first violation that it saw, as a sentence; empty: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"

namespace ingot::testing {

class Checker {
 public:
  const std::string& violation() const { return violation_; }

 protected:
  void object(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

 private:
  std::string violation_;
};

// Replicas decide the same; each decides every slot once and in order, except for slots that a snapshot brought.
class OrderChecker : public Checker {
 public:
  explicit OrderChecker(int replicas) : next_(static_cast<std::size_t>(replicas)) {}

  void decided(int replica, const Decision& decision);
  void installed(int replica, Slot first_undecided);
  // A new incarnation decides from slot 0.
  void restarted(int replica) { next_[static_cast<std::size_t>(replica)] = Slot(0); }
  Slot next(int replica) const { return next_[static_cast<std::size_t>(replica)]; }
  // By slot, over all replicas.
  const std::map<Slot, std::string>& log() const { return log_; }

 private:
  std::vector<Slot> next_;
  std::map<Slot, std::string> log_;
};

// A decided command was proposed, is in one slot only, and was not rejected; a no-op is in place of a rejected command
// only.
class ProposalChecker : public Checker {
 public:
  void proposed(std::uint64_t id, const std::string& command) { id_of_[command] = id; }
  void rejected(std::uint64_t id) { rejected_.insert(id); }
  // Excuses a command whose leader was deposed: its outcome is unknown. No-ops may then have filled gaps, too.
  void excuse(std::uint64_t id) { excused_.insert(id); }
  // REQUIRES: the run has ended, faults have stopped, and no message or work is left.
  void check(const std::map<Slot, std::string>& log);
  // Only whether a rejected command was decided. REQUIRES: likewise.
  void check_rejected(const std::map<Slot, std::string>& log);

 private:
  std::map<std::string, std::uint64_t> id_of_;
  std::set<std::uint64_t> rejected_;
  std::set<std::uint64_t> excused_;
};

// A linearizable read sees all writes that were acknowledged, or seen by another such read, before it began.
class ReadChecker : public Checker {
 public:
  void acknowledged(Slot end) { floor_ = std::max(floor_, end); }
  void began(std::uint64_t id) { floor_at_start_[id] = floor_; }
  void answered(std::uint64_t id, Slot applied);
  void rejected(std::uint64_t id) { floor_at_start_.erase(id); }
  // REQUIRES: no message or work is left.
  void check();

 private:
  Slot floor_;  // slots below it are known to some client
  std::map<std::uint64_t, Slot> floor_at_start_;
};

// A replica's messages agree with its segment, and it announces a decision only when enough segments hold the command.
class StableChecker : public Checker {
 public:
  StableChecker(std::string kind, int replicas, int voters);

  void saw(int replica, const Effects& effects);

 private:
  using Slots = std::map<Slot, std::string>;

  void store(int replica, const StableWrite& write);
  void check(int replica, const std::string& message);
  void check_brief(int replica, const Outgoing& outgoing);
  int holders(Slot slot, const std::string& command) const;
  bool enough(int holders) const;

  std::string kind_;
  int replicas_;
  int voters_;
  std::vector<Slots> accepted_;
  std::vector<Slots> proposed_;
  std::vector<std::map<Slot, bool>> outcomes_;
};

}  // namespace ingot::testing
