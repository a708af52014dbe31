// A group of replicas in this process, with one loop each or one a core, and a client that keeps puts in flight. Used
// by bench/trees.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/types.h"
#include "replication/pages/pages.h"
#include "replication/replica/trees/plan.h"
#include "transport/host/event_loop.h"
#include "transport/host/fabric.h"
#include "transport/pollable.h"
#include "transport/transport.h"

namespace ingot::bench {

struct TreeGroupOptions {
  std::string tree = "best";
  std::string agreement = "1paxos";
  std::string transport = "nvp";
  int replicas = 24;
  bool loop_each = true;      // a thread and loop for each replica, as with processes; else for each core
  std::vector<CoreId> cores;  // assigned to replicas in turns; the client has the last one
  int value_bytes = 16;
};

// Totals since the start of the group.
struct TreeGroupTotals {
  std::uint64_t answered = 0;           // commands
  std::uint64_t commits = 0;            // slots applied by the leader
  std::vector<std::uint64_t> handled;   // by replica: messages received and sent
};

// The loops run from construction to destruction; while the client is paused they sleep. Used by one thread.
class TreeGroup {
 public:
  explicit TreeGroup(const TreeGroupOptions& options);
  ~TreeGroup();

  // The client keeps `puts` in flight from now on; 0 pauses it, and returns when the last is answered.
  void keep_in_flight(int puts);

  TreeGroupTotals totals() const;
  // True once every replica has applied all that the leader has. Only while the client is paused.
  bool settled() const;
  // Whether all replicas have equal digests. REQUIRES: settled().
  bool digests_agree() const;

 private:
  class Client;
  struct Member;

  void run_loop(const std::vector<int>& ids, CoreId core);
  std::unique_ptr<Member> make_member(int id);

  const TreeGroupOptions options_;
  TreePlan plan_;
  TreeSet initial_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::span<std::byte>> inboxes_;
  std::vector<std::unique_ptr<ReplicaPage>> pages_;
  std::unique_ptr<Client> client_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace ingot::bench
