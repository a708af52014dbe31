// A whole group with its clients, in virtual time, from one seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/simulation/client.h"
#include "tests/simulation/environment.h"
#include "tests/simulation/plan.h"

namespace ingot::simulation {

// What happened, in numbers.
struct Tally {
  std::uint64_t events = 0;  // polls of replicas and clients, faults, notices, ...
  std::uint64_t steps = 0;   // of executions: stores, messages, decisions
  std::uint64_t messages = 0;
  std::uint64_t dropped = 0;  // by full backlogs
  std::uint64_t decided = 0;  // slots
  std::uint64_t writes = 0;                 // acknowledged, or refused for lack of space
  std::uint64_t no_space = 0;               // of these, refused
  std::uint64_t unacknowledged_writes = 0;  // refused, or their client gave up waiting
  std::uint64_t reads = 0;
  std::uint64_t repeats = 0;  // of requests
  std::uint64_t snapshots = 0;  // installed
  std::uint64_t written = 0;    // snapshots
  std::uint64_t published = 0;  // likewise: kept by the supervisor
  std::uint64_t salvages = 0;   // segments of dead replicas looked at
  std::uint64_t histories = 0;  // segments looked at for their history, the writer dead or alive
  std::uint64_t snapshot_messages = 0;  // pieces of snapshots, and questions for them
  std::uint64_t relayed = 0;            // copies of broadcasts by trees
  std::uint64_t unknown = 0;    // operations whose outcome a client gave up waiting for
  std::uint64_t fences = 0;
  std::uint64_t restarts = 0;
  std::uint64_t released = 0;   // segments of ended incarnations, by the supervisor
  std::uint64_t kept_full = 0;  // times that writes had to wait for such releases
  std::uint64_t dead_for_good = 0;
  std::uint64_t both_lost = 0;       // leader and acceptor at one instant
  std::uint64_t everybody_lost = 0;
  std::uint64_t leaderships = 0;     // ballots that were seen to lead
  std::uint64_t epochs = 0;          // likewise, of acceptors
  std::uint64_t virtual_us = 0;
  std::uint64_t refused_moves = 0;
  std::uint64_t stops_told = 0;  // to one process each
  std::array<std::uint64_t, Fault::kKinds> faults{};

  void add(const Tally& other);
};

struct Outcome {
  std::string violation;  // empty: none
  Tally tally;
  std::vector<std::string> trace;  // if asked for
};

// Runs the seed to its end or to the first violation.
Outcome run(const Options& options);

}  // namespace ingot::simulation
