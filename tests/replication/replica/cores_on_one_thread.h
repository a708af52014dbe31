// A group of replica cores without machines: messages are strings in queues, stable stores are maps, and a test decides
// after which action a replica stops.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/check.h"
#include "replication/agreement/registry.h"
#include "replication/replica/core.h"
#include "replication/stable/layout.h"
#include "replication/stable/limits.h"
#include "replication/store/kv_store.h"
#include "tests/replication/stable/stable_model.h"

namespace ingot {

class StableInMemory final : public StableStore {
 public:
  StableInMemory(EndpointId replica, Incarnation incarnation) : model_(replica, incarnation) {}

  bool store(const StableWrite& write) override {
    model_.apply(write);
    used_bytes_ += stable_record_bytes(write.command == nullptr ? 0 : write.command->size());
    return true;
  }
  std::size_t capacity_bytes() const override { return capacity_bytes_; }
  std::size_t used_bytes() const override { return used_bytes_; }
  void make_room() override { ++make_room_calls; }
  void clean() override {}

  void set_capacity(std::size_t bytes) { capacity_bytes_ = bytes; }
  const StableView& view() const { return model_.state(); }

  int make_room_calls = 0;

 private:
  StableModel model_;
  std::size_t capacity_bytes_ = kStableSegmentBytes;
  std::size_t used_bytes_ = 0;
};

// Endpoints 0 .. replicas-1 are replicas, the last one is a client.
class CoresOnOneThread {
 public:
  CoresOnOneThread(const std::string& agreement, int replicas, const ReplicaBounds& bounds = {})
      : replicas_(replicas), bounds_(bounds), inboxes_(count(replicas + 1)) {
    pages_.resize(count(replicas));
    for (int id = 0; id < replicas; ++id) members_.push_back(std::make_unique<Member>(*this, agreement, id));
  }

  int replicas() const { return replicas_; }
  EndpointId client() const { return endpoint(replicas_); }
  ReplicaCore& core(int id) { return *members_[count(id)]->core; }
  StableInMemory& stable(int id) { return members_[count(id)]->stable; }

  void send(int from, EndpointId to, std::string_view bytes) {
    inboxes_[to.value()].push_back({endpoint(from), std::string(bytes)});
  }
  void request(int replica, const Request& request) { send(replicas_, endpoint(replica), encode(request)); }

  // Gives `replica` the messages that have arrived; then it begins a round, unless one is under way.
  void begin(int replica) {
    ReplicaCore& target = core(replica);
    if (target.in_round()) return;
    for (auto& inbox = inboxes_[count(replica)]; !inbox.empty(); inbox.pop_front()) {
      target.receive(inbox.front().from, inbox.front().bytes);
    }
    now_ns_ += 1'000'000;
    target.begin_round(now_ns_, true);
  }

  // Executes at most `actions` actions, and appends their kinds to `trace`. Returns false if none is left and the round
  // is over.
  bool step(int replica, int actions, std::vector<Action::Kind>* trace = nullptr) {
    ReplicaCore& acting = core(replica);
    for (int i = 0; i < actions; ++i) {
      const Action* action = acting.next();
      if (action == nullptr) {
        acting.publish();
        acting.set_ticking(acting.wants_tick(), now_ns_);
        return false;
      }
      if (trace != nullptr) trace->push_back(action->kind);
      if (action->kind == Action::Kind::kStore) INGOT_CHECK(stable(replica).store(*action->write));
      if (action->kind == Action::Kind::kSend) send(replica, action->to, action->message.joined());
      acting.done();
    }
    return true;
  }
  void round(int replica, std::vector<Action::Kind>* trace = nullptr) {
    begin(replica);
    while (step(replica, 1'000, trace)) {
    }
  }

  // The answers that have come since the last call.
  std::vector<std::string> answers() {
    std::vector<std::string> all;
    for (const Letter& letter : inboxes_[count(replicas_)]) all.push_back(letter.bytes);
    inboxes_[count(replicas_)].clear();
    return all;
  }

 private:
  struct Letter {
    EndpointId from;
    std::string bytes;
  };
  struct Member {
    Member(CoresOnOneThread& group, const std::string& agreement, int id) : stable(endpoint(id), Incarnation(1)) {
      ReplicaCore::Parts parts;
      parts.protocol.group.replicas = parts.protocol.group.voters = group.replicas_;
      parts.protocol.group.self = endpoint(id);
      parts.protocol.agreement = make_agreement(agreement, parts.protocol.group);
      parts.storage.state = &store;
      parts.storage.stable = &stable;
      parts.bounds = group.bounds_;
      parts.endpoints = group.replicas_ + 1;
      parts.page = &group.pages_[count(id)];
      for (const ReplicaPage& page : group.pages_) parts.pages.push_back(&page);
      parts.channel_ready = [](EndpointId) { return true; };
      core = std::make_unique<ReplicaCore>(std::move(parts));
    }

    kv::KvStore store;
    StableInMemory stable;
    std::unique_ptr<ReplicaCore> core;
  };

  static std::size_t count(int value) { return static_cast<std::size_t>(value); }
  static EndpointId endpoint(int id) { return EndpointId(static_cast<std::uint16_t>(id)); }

  const int replicas_;
  const ReplicaBounds bounds_;
  std::vector<std::deque<Letter>> inboxes_;
  std::deque<ReplicaPage> pages_;
  std::vector<std::unique_ptr<Member>> members_;
  std::uint64_t now_ns_ = 1;
};

}  // namespace ingot
