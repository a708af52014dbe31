// The keys that calls leave behind when they end before their turn, until the replicas have taken them away.
#pragma once

#include <cstdint>
#include <map>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "transport/pollable.h"

namespace ingot::locks {

// Used by the loop's thread only, and outlives every answer of the client.
class Leaves final : public Pollable {
 public:
  explicit Leaves(ReplicaClient& client) : client_(client) {}

  // Asks at once, and again after each error, kLeaveTriesMax times at most; but only once while there are kLeavesMax:
  // without success the key goes with its lease. `leave` may be carried out more than once.
  void add(kv::TxnRequest leave);
  // None is asked for any more.
  void stop() { waiting_.clear(); }

  int poll(std::uint64_t now_ns) override;
  bool readable() override { return false; }
  std::uint64_t deadline_ns() const override;

 private:
  struct Leave {
    kv::Request request;
    int tries = 0;
    bool asked = false;          // and not answered yet
    std::uint64_t again_ns = 0;  // if it is not asked; 0: the next poll says when
  };

  void ask_for(std::uint64_t number);

  ReplicaClient& client_;
  std::map<std::uint64_t, Leave> waiting_;  // by a number of its own
  std::uint64_t next_ = 0;
};

}  // namespace ingot::locks
