// What a simulated replica sees of its world.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/messages.h"
#include "replication/pages/pages.h"
#include "replication/replica/snapshots/transfer.h"
#include "tests/simulation/checkers/checkers.h"
#include "tests/simulation/history/history.h"
#include "tests/simulation/network.h"
#include "tests/simulation/segments.h"

namespace ingot::simulation {

// A snapshot's file; null: none.
using PublishedSnapshot = std::shared_ptr<const SnapshotServer::File>;

// An event that reaches a replica by another way than a message.
struct Notice {
  enum class Kind : std::uint8_t {
    kDied,     // the kernel has marked the segment of `name`
    kStopped,    // the kernel has reported the process of `name` stopped, truly or not, and perhaps late
    kContinued,  // likewise, that it has gone on
    kBegins,   // `name` runs, with `segment`
    kSegment,  // the segment of `name` can be read, from `slot` on
    kHistory,  // likewise, but its writer may be alive
    kWritten,  // the snapshot that it writes is done; null: it could not be made
    kDecoded,  // the snapshot that it loads is decoded
    kReleased,  // the supervisor has released segments of the replica of `name`
    kMove,     // an operator moves `role` to `to`, as `fault` says
  };
  Kind kind = Kind::kDied;
  ReplicaIncarnation name{};
  Slot slot{};
  std::shared_ptr<const SimulatedSegment> segment{};
  PublishedSnapshot snapshot{};
  Role role = Role::kReplica;
  EndpointId to{};
  std::size_t fault = 0;
};

// A client's session is its number, which fits into this many bits; only without the rule "sessions" higher ones are
// set.
inline constexpr int kSessionBits = 16;

class Environment {
 public:
  Environment(int replicas, int endpoints, const NetworkFaultSchedule& schedule, std::uint64_t network_seed)
      : network(endpoints, schedule, network_seed), checkers(replicas) {
    for (int replica = 0; replica < replicas; ++replica) pages.push_back(std::make_unique<ReplicaPage>());
  }

  // The replica is about to execute one action. True: it was crashed or stopped, and must not execute it.
  virtual bool at_crash_point(int replica) = 0;
  // The replica has just sent a message of that type. True: likewise.
  virtual bool has_sent(int replica, MessageType type) = 0;

  // Whether the replica accepts messages of this incarnation.
  virtual bool accepts(int replica, ReplicaIncarnation name) const = 0;
  // From now on the replica accepts messages of this incarnation.
  virtual void gone_over(int replica, ReplicaIncarnation name) = 0;

  // Delivers the notice after a delay, unless the replica has begun another incarnation by then.
  virtual void answer_later(int replica, Notice notice) = 0;
  virtual void move_answered(std::size_t fault, bool begun) = 0;
  // True: that incarnation was running, and is killed now.
  virtual bool fence(ReplicaIncarnation name) = 0;

  // After a delay, and before the replica's next incarnation starts, the supervisor keeps this snapshot if it is newer
  // than the one it has; a kept one outlives all replicas.
  virtual void publish(int replica, PublishedSnapshot snapshot) = 0;
  virtual Slot published_below() const = 0;
  // The earlier incarnations of a replica whose segments the supervisor keeps, and how much of its room they take.
  virtual std::vector<Incarnation> kept_incarnations(EndpointId replica) const = 0;
  virtual KeptSegments kept_segments() const = 0;

  // The number of the operation that a client's command carries out.
  virtual Value operation_of(std::uint64_t client, std::uint64_t sequence) const = 0;
  // Whether a trace is written; trace() adds a line to it.
  virtual bool traces() const = 0;
  virtual void trace(const std::string& line) = 0;

  Network network;
  Checkers checkers;
  std::vector<std::unique_ptr<ReplicaPage>> pages;  // by replica; a page survives its replica
  std::uint64_t steps = 0;                          // of all replicas
  std::uint64_t installed = 0;                      // snapshots, likewise
  std::uint64_t snapshot_messages = 0;              // sent, likewise
  std::uint64_t relayed_messages = 0;               // likewise: broadcasts by trees
  bool pressed = false;                             // segments report more use than they have

 protected:
  ~Environment() = default;
};

}  // namespace ingot::simulation
