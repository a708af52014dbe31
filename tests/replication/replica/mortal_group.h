// A group on one thread that can die as a whole and restart from the stable segments and the newest published snapshot,
// which outlive it as if a supervisor kept them.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/client/session_client.h"
#include "replication/replica/replica.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/limits.h"
#include "replication/stable/segment.h"
#include "replication/store/api.h"
#include "replication/store/kv_store.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"

namespace ingot {

class MortalGroup {
 public:
  struct Options {
    std::string agreement = "1paxos";
    int replicas = 3;
    std::uint64_t seed = 1;
    bool fork = true;
    bool load_in_background = false;
    std::size_t segment_bytes = kStableSegmentBytes;
    AgreementBounds bounds{};
    bool keeps = true;  // keeps snapshots
  };

  explicit MortalGroup(Options options);
  ~MortalGroup();

  void kill_all();
  // Starts all members. `deprived`: this one gets the bytes `other` instead of the snapshot, or none.
  void start_all(int deprived = -1, std::string_view other = {});

  // From its next start on, this member's snapshot is decoded only after release; with load_in_background only. -1:
  // releases it.
  void hold_load(int replica);

  // A member that is not polled is like a stopped process.
  void set_running(int replica, bool running) { members_[replica]->running = running; }
  // A finished snapshot is published only while this is true; the last one also when it becomes true again.
  void set_keeping(bool keeping);

  // Puts a new key. acknowledged() tells whether it was acknowledged.
  void put(std::size_t value_bytes);
  int outstanding() const;
  std::size_t acknowledged() const { return acknowledged_.size(); }

  void round(std::uint64_t step_ns = 100'000);
  // Runs rounds until nothing is outstanding; fails after rounds_max.
  void wait(int rounds_max = 400'000);
  // Runs rounds until all have applied the same and nothing is outstanding; fails after rounds_max.
  void settle(int rounds_max = 400'000);
  // Runs rounds until a published snapshot holds all but the last few slots.
  void wait_published();

  // The number of acknowledged puts that are missing or wrong in a replica's state.
  int lost_by(int replica) const;

  Slot published() const { return Slot(daemon_.published_slot.get()); }
  const ReplicaPage& page(int replica) const { return *pages_[replica]; }
  bool loading(int replica) const { return members_[replica]->replica->loading(); }
  const Applier& applier(int replica) const { return members_[replica]->replica->applier(); }
  AgreementStatus status(int replica) const { return members_[replica]->agreement->status(); }
  int segment() const { return incarnation_; }

 private:
  class HeldStore final : public StateMachine {
   public:
    HeldStore(int id, const std::atomic<int>& held) : id_(id), held_(held) {}
    std::string apply(Slot slot, std::string_view command) override { return store_.apply(slot, command); }
    std::optional<std::string> apply_some(Slot slot, std::string_view command, StepBudget& steps) override {
      return store_.apply_some(slot, command, steps);
    }
    std::string query(std::string_view query) const override { return store_.query(query); }
    void save(Sink sink) const override { store_.save(sink); }
    std::size_t save_bytes() const override { return store_.save_bytes(); }
    absl::StatusOr<Load> decode(std::string_view snapshot) override {
      for (int held = held_; held == id_; held = held_) held_.wait(held);
      return store_.decode(snapshot);
    }
    std::uint64_t digest() const override { return store_.digest(); }

   private:
    const int id_;
    const std::atomic<int>& held_;
    kv::KvStore store_;
  };
  struct Member {
    Member(int id, const std::atomic<int>& held) : store(id, held) {}

    bool running = true;
    std::unique_ptr<StableSegment> stable;
    HeldStore store;
    std::unique_ptr<Transport> transport;
    const Agreement* agreement = nullptr;
    std::unique_ptr<Replica> replica;
  };
  struct Put {
    std::string key, value;
    bool arrived = false, ok = false;
  };

  void start(int id, SnapshotBytes snapshot);
  std::shared_ptr<const StableView> predecessor(int id) const;
  bool equal() const;
  void hand_over(Slot slot, int fd);
  void keep(Slot slot, Descriptor fd);
  void collect();
  void give_child_its_time();
  void give_load_its_time() const;

  Options options_;
  Prng rng_;
  std::uint64_t now_ns_;
  int incarnation_ = 0;
  int rounds_with_child_ = 0;
  std::uint64_t puts_ = 0;
  DaemonPage daemon_{};
  std::vector<Segment> page_segments_;
  std::vector<const ReplicaPage*> pages_;
  std::vector<IncarnationSegments> segments_;       // by replica
  std::vector<Descriptor> stable_fds_;       // by replica, of the newest incarnation
  std::shared_ptr<const Segment> snapshot_;
  bool keeping_ = true;
  std::atomic<int> held_{-1};  // replica
  std::optional<std::pair<Slot, Descriptor>> not_kept_;
  std::optional<Fabric> fabric_;
  std::vector<std::span<std::byte>> inboxes_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<Transport> client_transport_;
  std::unique_ptr<SessionClient> client_;
  std::deque<std::shared_ptr<Put>> outstanding_;
  std::map<std::string, std::string> acknowledged_;
};

}  // namespace ingot
