// The run that one seed means: its fault schedule and its faults. Drawn before the run, so that it can be shortened.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "tests/simulation/client.h"
#include "tests/simulation/history/virtual_time.h"
#include "tests/simulation/network.h"
#include "tests/simulation/simulated_replica.h"

namespace ingot::simulation {

// One fault, or an operator's action.
struct Fault {
  enum class Kind : std::uint8_t {
    kKill,       // the victims die; each starts again, after a while
    kStop,       // the victims are stopped, and wake up later
    kSlowLink,   // one direction between two replicas, or between all and one
    kMoveLeader,
    kMoveAcceptor,
    kPressure,   // segments report a sixth more use, so replicas trim what two of them hold
    kDoubt,      // the victims are reported stopped, and are not
  };
  static constexpr int kKinds = 7;

  enum class Victims : std::uint8_t {
    kAnybody,
    kLeader,
    kAcceptor,
    kBystander,          // neither leads nor accepts
    kLeaderAndAcceptor,  // at the same instant
    kKillLeaderStopAcceptor,
    kEverybody,
    kMost,      // all but one, or but a few
    kPromiser,  // the replica that sends the next promise, right after it; the leader's messages are slow meanwhile
    kAuthor,    // the replica whose configuration entry is chosen, while it tells the others
  };

  Kind kind = Kind::kStop;
  Victims victims = Victims::kAnybody;
  TimeNs at = 0;
  TimeNs lasts_ns = 0;      // until restart, waking up, or the end of slowness, pressure or doubt
  int steps = 0;            // that the victim still executes after `at`, before the fault strikes
  std::uint64_t pick = 0;   // chooses among the possible victims
  TimeNs slow_ns = 0;       // kSlowLink
  bool fresh_inbox = false;  // kKill: messages sent to the dead replica are lost
  bool for_good = false;     // kKill: no victim starts again, unless too few would be left for a majority of voters
  bool from_published = false;  // kKill: the successor begins with the newest published snapshot, not with a peer's
};

const char* name_of(Fault::Kind kind);
const char* name_of(Fault::Victims victims);
// "stop leader at 12.3 ms for 4.0 ms, after 3 steps".
std::string describe(const Fault& fault);

// What the caller asks of a run.
struct Options {
  std::string agreement = "1paxos";
  int replicas = 3;
  int voters = 3;
  std::uint64_t seed = 1;
  std::string mutant;  // the rule that is left out (mutants.h); empty: none
  bool trace = false;
  bool kills = true;  // false: replicas are stopped, links slow, roles moved, but none dies
  // Limits to find the shortest prefix that fails: at most this many of the seed's faults, and of its writes.
  int faults_max = 1'000'000;
  int writes_max = 1'000'000;
};

struct Plan {
  explicit Plan(const Options& options);

  AgreementBounds bounds;
  NetworkFaultSchedule network;
  ReplicaFaultSchedule replica;
  ClientSchedule client;
  TimeNs notice_ns_max = 0;    // from a death until a peer hears of it from the kernel
  double stops_told = 0;       // chance that a process hears of a stop from the kernel, and then of its end
  TimeNs stop_notice_ns_max = 0;  // until then: perhaps after the replica has gone on
  TimeNs write_ns_max = 0;     // from the beginning of writing a snapshot to its end
  TimeNs decode_ns_max = 0;    // likewise of decoding it
  TimeNs publish_ns_max = 0;   // from handing it to the supervisor until the supervisor keeps it
  std::size_t kept_bytes = ~std::size_t{0};  // of ended incarnations' segments; beyond it writes wait for a snapshot
  double snapshot_fails = 0;   // chance that one cannot be written
  std::string tree_shape;      // of broadcasts; empty: a star without relays
  bool fencing = false;
  int writes = 0;
  std::vector<Fault> faults;  // by time
};

}  // namespace ingot::simulation
