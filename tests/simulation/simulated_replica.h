// A simulated replica: it drives the real replica core (replication/replica/core.h), executes one action at a time, and
// can die or stop between any two of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/core.h"
#include "replication/replica/outbox.h"
#include "replication/replica/snapshots/loader.h"
#include "tests/simulation/environment.h"
#include "tests/simulation/history/virtual_time.h"
#include "tests/simulation/segments.h"
#include "tests/simulation/simulated_transport.h"
#include "tests/simulation/watched_store.h"

namespace ingot::simulation {

// How the replicas of one run are set up; drawn from its seed.
struct ReplicaFaultSchedule {
  ReplicaBounds bounds;
  OutboxBounds outbox;
  std::size_t segment_bytes = 1024 * 1024;  // room for records
  std::int64_t quota_bytes = 0;             // of the store; 0: none
  int poll_messages = 16;                   // read from each peer by one round
  TimeNs poll_cost_ns = 300;
  TimeNs message_cost_ns = 100;
};

// Not thread-safe.
class SimulatedReplica final : private AppliedSink {
 public:
  struct Setup {
    GroupConfig group;
    Incarnation incarnation{1};  // as the supervisor counts; without the rule "names" the group has another number
    std::unique_ptr<Agreement> agreement;
    ReplicaFaultSchedule schedule;
    std::optional<TreeOptions> trees;
    bool fences = false;
    std::shared_ptr<SimulatedSegment> segment;  // its own, empty
    KnownSegments segments;                     // of all replicas, its own included
    PublishedSnapshot snapshot;                 // to start from; null: none
    Environment* environment = nullptr;
  };

  explicit SimulatedReplica(Setup setup);

  // Runs one round at `now`. A crash or stop may interrupt it: the rest then waits for the next poll, and a dead
  // replica gets none.
  void poll(TimeNs now);

  // When it wants to be polled next, apart from arrivals; no arrival is handled before busy_until().
  TimeNs next_poll() const { return has_work() ? busy_until_ : core_.deadline_ns(); }
  TimeNs busy_until() const { return busy_until_; }

  // The replica's next round handles the notice.
  void note(Notice notice) { notices_.push_back(std::move(notice)); }
  // The peer has switched its channel to this incarnation, and accepts its messages.
  void accepted_by(EndpointId peer) { transport_.open(peer); }

  const Agreement& agreement() const { return core_.agreement(); }
  ReplicaIncarnation name() const { return {group_.self, incarnation_}; }
  Slot applied() const { return core_.applier().applied(); }
  std::uint64_t digest() const { return core_.applier().digest(); }
  std::uint64_t dropped() const { return outbox_.dropped_messages(); }

 private:
  using Kind = Action::Kind;

  ReplicaCore::Parts core_parts(Setup& setup);
  void applied(Slot slot, const Applier::Applied& applied) override;

  void look_at_keeper();
  bool has_work() const;
  bool may_flush() const;
  void handle(const Notice& notice);
  void note_death(ReplicaIncarnation name);
  void peer_died(ReplicaIncarnation name);
  bool takes_part(ReplicaIncarnation name) const;
  void peer_begins(const Notice& notice);
  void go_over_to_peers();
  void read_segment(const Notice& notice);
  void read_messages();
  void receive(EndpointId from, std::string_view message);
  // These return false if the replica was crashed or stopped meanwhile, or a checker found a violation.
  bool finish_round();
  bool execute(const Action& action);
  bool store(const StableWrite& write);
  void store_deferred();
  void send(const Action& action);
  bool decide(const Decision& decision);
  void write_snapshot();
  void answer_later(Notice::Kind kind, const Action& action);
  void read_history(Slot from);
  void ask_to_move(const Notice& notice);
  bool is_move_answer(const Action& action);
  int self() const { return group_.self.value(); }

  const GroupConfig group_;
  const Incarnation incarnation_;
  const ReplicaFaultSchedule schedule_;
  Environment& environment_;
  const std::shared_ptr<SimulatedSegment> segment_;
  KnownSegments segments_;
  SimulatedTransport transport_;
  Outbox outbox_;
  WatchedStore store_;
  ReplicaCore core_;
  SnapshotBytes loading_;                // given by the core to decode
  std::vector<Notice> notices_;
  std::vector<StableWrite> deferred_;    // without the rule "stored-before-sent"
  std::vector<Incarnation> present_;     // by peer: the incarnation that the channel is with
  std::vector<Incarnation> died_;        // by peer: the newest incarnation that is known to be dead; 0: none
  std::uint64_t dead_ = 0;               // bit by peer
  std::uint64_t begun_ = 0;              // bit by peer: an incarnation newer than the channel's runs
  std::uint64_t requests_ = 0;           // without the rule "sessions"
  std::vector<std::size_t> moves_;       // faults that ask to move a role, not answered yet
  TimeNs now_ = 0;
  TimeNs busy_until_ = 0;
  bool works_ = true;  // the last round did something, so the next one may
};

}  // namespace ingot::simulation
