// What a simulated replica sees of its world.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "tests/simulation/checkers.h"
#include "tests/simulation/history.h"
#include "tests/simulation/network.h"

namespace ingot::simulation {

// A state as it was at some moment.
struct Snapshot {
  Slot applied;
  std::string bytes;
  EffectChecker::Effects effects;  // for the checker
};

// A client's session is its number, in so many bits; others stand above them only for a mutant.
inline constexpr int kSessionBits = 16;

class Environment {
 public:
  Environment(int replicas, int endpoints, const NetworkFaultSchedule& schedule, std::uint64_t network_seed)
      : network(endpoints, schedule, network_seed),
        checkers(replicas), applied_pages(static_cast<std::size_t>(replicas)), alive(static_cast<std::size_t>(replicas)) {}

  // A replica is about to take one step of its execution. True: it must stop there, now.
  virtual bool at_crash_point(int replica) = 0;
  // A replica has just said that it promises something. True: likewise.
  virtual bool promised(int replica) = 0;
  // A replica asked for what lies in a dead one's segment; for an end of a stopped one.
  virtual void salvage(int replica, ReplicaIncarnation name) = 0;
  virtual void history(int replica) = 0;
  virtual void fence(ReplicaIncarnation name) = 0;
  // The supervisor's newest published snapshot, which outlives every replica: what it holds may be trimmed.
  virtual Slot published_below() const = 0;
  virtual void publish(Snapshot snapshot) = 0;
  // Which operation a client's command is.
  virtual Value operation_of(std::uint64_t client, std::uint64_t sequence) const = 0;
  // Tells of a replica's step, if a trace is written.
  virtual bool traces() const = 0;
  virtual void trace(const std::string& line) = 0;

  Network network;
  Checkers checkers;
  std::vector<Slot> applied_pages;  // by replica: applied, as its page says; it survives its replica
  std::vector<bool> alive;          // by replica: stopped ones, too
  std::uint64_t steps = 0;          // of all replicas
  bool pressed = false;             // segments are half full: trim what two replicas hold

 protected:
  ~Environment() = default;
};

}  // namespace ingot::simulation
