// A simulated replica: what replication/replica/replica.h does, step by step, so that it can die or stop between any two steps.
//
// Agreement, batcher, read queue, sessions and store are the real ones. Channels, stable segment and clock are
// simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/applier.h"
#include "replication/replica/batcher.h"
#include "replication/replica/read_queue.h"
#include "replication/requests/request.h"
#include "replication/store/kv_store.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/simulation/effect_checker.h"
#include "tests/simulation/environment.h"
#include "tests/simulation/fifo.h"
#include "tests/simulation/mutants.h"
#include "tests/simulation/virtual_time.h"

namespace ingot::simulation {

// How the replicas of one run are set up; drawn from its seed.
struct NodeFaultSchedule {
  int pipeline_slots = 4;      // as Replica::Parts
  int poll_messages = 16;      // read from each peer before effects are executed
  int trim_slots = 16;         // applied slots between two attempts to trim
  int publish_slots = 16;         // above the newest published snapshot, before a newer one is sealed
  TimeNs tick_ns = 5 * kMs;
  TimeNs poll_cost_ns = 300;
  TimeNs message_cost_ns = 100;
};

// Not thread-safe.
class Node {
 public:
  struct Setup {
    GroupConfig group;
    std::unique_ptr<Agreement> agreement;
    NodeFaultSchedule schedule;
    Mutant mutant;
    Environment* environment;
  };

  explicit Node(Setup setup);

  // Does what is to be done at `now`. It may be crashed in the middle: then the rest is undone until it is polled
  // again, which a dead one never is.
  void poll(TimeNs now);

  // When it wants to be polled next, arrivals aside; no arrival is looked at before busy_until().
  TimeNs next_poll() const { return next_tick_; }
  TimeNs busy_until() const { return busy_until_; }

  // As a real loop does: between two executions, so it waits for the end of one that is under way.
  void install(std::shared_ptr<const Snapshot> snapshot);
  Snapshot take_snapshot() const;

  // An input that comes from outside of the channels; its effects are executed by the next poll.
  template <typename Input>
  void input(Input&& give) {
    give(*agreement_, effects_);
  }
  // There is something to do at once.
  bool is_pressed() const { return progress_.under_way || !effects_.empty(); }

  const Agreement& agreement() const { return *agreement_; }
  const GroupConfig& group() const { return group_; }
  const StableView& stable() const { return stable_.state(); }
  // What it began with lies in its segment: its successor may rely on it.
  bool has_started() const { return has_started_; }
  Slot applied() const { return applier_.applied(); }
  std::uint64_t digest() const { return applier_.digest(); }
  bool wants_snapshot() const { return wants_snapshot_; }

 private:
  // Knows whether a command was carried out, or its stored result handed out.
  class WatchedStore final : public StateMachine {
   public:
    std::string apply(Slot slot, std::string_view command) override {
      carried_out = true;
      return store.apply(slot, command);
    }
    std::string query(std::string_view query) const override { return store.query(query); }
    void save(Sink sink) const override { store.save(sink); }
    std::size_t save_bytes() const override { return store.save_bytes(); }
    absl::StatusOr<Load> decode(std::string_view snapshot) override { return store.decode(snapshot); }
    std::uint64_t digest() const override { return store.digest(); }

    kv::KvStore store;
    bool carried_out = false;
  };

  // How far the execution of effects has come.
  struct Progress {
    bool under_way = false;
    bool told_applied = false;
    std::size_t stable = 0;
    std::size_t message = 0;
    int peer = 0;  // of a broadcast
    std::size_t decided = 0;
  };

  void read_messages(TimeNs now);
  void receive(EndpointId from, std::string_view message);
  void receive_request(EndpointId from, std::string_view message);
  void forget_if_deposed();
  void propose_batches();
  bool may_propose() const;
  // These return false if the replica was crashed in between.
  bool execute();
  bool store_all();
  bool send_all();
  bool after_sending(std::string_view message);
  bool send_broadcast(const Outgoing& outgoing);
  bool apply_all();
  void apply(const Decision& decision);
  void finish_effects();
  void reject(const Rejection& rejection);
  void answer_reads();
  void compact();
  Slot trim_point(bool pressed) const;
  void respond(EndpointId to, std::uint64_t sequence, Response::Status status, std::string_view payload);
  int self() const { return group_.self.value(); }

  const GroupConfig group_;
  const NodeFaultSchedule schedule_;
  const Mutant mutant_;
  Environment& environment_;
  std::unique_ptr<Agreement> agreement_;
  StableModel stable_;
  WatchedStore machine_;
  Applier applier_;
  Batcher batcher_;
  ReadQueue reads_;
  Effects effects_;    // asked for and not begun
  Effects executing_;  // begun
  Progress progress_;
  std::shared_ptr<const Snapshot> received_;  // while an execution is under way; null: none
  Fifo<Slot> window_;  // own proposals that are not applied
  TimeNs now_ = 0;
  TimeNs next_tick_ = kNever;
  TimeNs busy_until_ = 0;
  std::uint64_t next_proposal_id_ = 1;
  std::uint64_t requests_ = 0;
  Ballot leads_;  // 0: it does not lead
  Slot trimmed_;
  Slot next_trim_;
  bool wants_snapshot_ = false;
  bool has_started_ = false;
};

}  // namespace ingot::simulation
