// A whole group in one thread: agreements joined by FIFO links, with every step called by the test.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "tests/replication/stable/stable_model.h"

namespace ingot::testing {

struct GroupOptions {
  std::string kind = "1paxos";
  int replicas = 3;
  int voters = 3;
  AgreementBounds bounds{};
  bool apply_by_hand = false;  // otherwise decided slots are applied at once
  bool fencing = false;
};

// Executes the effects of every input in the documented order. Not thread-safe.
class Group {
 public:
  using Observer = std::function<void(int replica, const Effects&)>;

  explicit Group(const GroupOptions& options);

  // Called with the effects of each input, before they are executed.
  Observer observe = [](int, const Effects&) {};
  // Called for each message; true: the link overflows and the message is lost.
  std::function<bool(int from, int to)> loses = [](int, int) { return false; };

  int replicas() const { return options_.replicas; }
  Agreement& at(int replica) { return *agreements_[static_cast<std::size_t>(replica)]; }
  bool alive(int replica) const { return agreements_[static_cast<std::size_t>(replica)] != nullptr; }
  Slot applied(int replica) const { return applied_[static_cast<std::size_t>(replica)]; }
  std::uint64_t messages_sent() const { return messages_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

  std::uint64_t propose(int replica, const std::string& command);
  std::uint64_t read(int replica);
  void tick(int replica);
  void drained(int replica, int peer);
  void compact(int replica, Slot keep_from);
  void install(int replica, Slot first_undecided);
  void apply(int replica, Slot applied);
  void room(int replica, std::size_t bytes);
  // Does not tell the other replicas.
  void crash(int replica);
  // Starts the next incarnation, with its predecessor's segment unless that is lost.
  void restart(int replica);
  // Tells `replica` that the last incarnation of `dead` died. REQUIRES: it did.
  void report_death(int replica, int dead);
  void report_death_of(int replica, ReplicaIncarnation dead);
  // Tells `replica` that the present incarnation of `peer` runs.
  void report_start(int replica, int peer);
  // Tells `replica` that the kernel has reported `peer` stopped, or gone on, whether or not it is.
  void report_stop(int replica, int peer);
  void report_continued(int replica, int peer);
  void client_waits(int replica);
  absl::Status move(int replica, Role role, int to);
  // Makes the segments of all of a replica's incarnations so far unreadable.
  void lose_segments(int replica);
  // Releases the segments of a replica's ended incarnations, as if a published snapshot held the slots below
  // `published`.
  void release_segments(int replica, Slot published);
  Incarnation incarnation(int replica) const { return incarnations_[static_cast<std::size_t>(replica)]; }
  // The content of an incarnation's segment; null if it is lost or never existed.
  const StableView* segment(ReplicaIncarnation name) const;

  // Whether a request for a dead replica's segment is answered at once; otherwise answer_salvage does it.
  bool salvage_at_once = true;
  void answer_salvage(int replica, ReplicaIncarnation name);
  // Answers with the content of all segments.
  void answer_history(int replica);

  using Link = std::deque<std::shared_ptr<const std::string>>;
  Link& link(int from, int to) { return links_[static_cast<std::size_t>(from * options_.replicas + to)]; }
  // Delivers the oldest message of a link to its receiver. REQUIRES: the link is not empty.
  void deliver(int from, int to);
  void receive(int from, int to, const std::string& message);
  // Makes deliver_all and run skip a replica.
  void stop(int replica, bool stopped) { stopped_[static_cast<std::size_t>(replica)] = stopped; }
  bool runs(int replica) const { return alive(replica) && !stopped_[static_cast<std::size_t>(replica)]; }
  // Runs this many rounds: a tick for every running replica that wants one, then all deliveries.
  void run(int ticks);
  // Delivers until no link holds a message for a running replica.
  void deliver_all();

 private:
  void execute(int replica, Effects& effects);
  void send(int from, int to, const std::shared_ptr<const std::string>& message);
  GroupConfig config(int replica) const;
  bool dead(ReplicaIncarnation name) const;
  ReplicaIncarnation name(int replica) const;

  GroupOptions options_;
  std::map<std::pair<int, std::uint32_t>, StableModel> segments_;  // by replica and incarnation
  std::map<std::pair<int, std::uint32_t>, StableView> released_;   // likewise
  std::vector<std::unique_ptr<Agreement>> agreements_;
  std::vector<Incarnation> incarnations_;
  std::vector<Slot> applied_;
  std::vector<bool> stopped_;
  std::vector<Link> links_;
  std::uint64_t next_id_ = 1;
  std::uint64_t messages_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace ingot::testing
