// A simulated client: it drives the real session core with several operations in flight, draws the operations, and
// checks the answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/prng.h"
#include "replication/client/session_core.h"
#include "replication/replica/outbox.h"
#include "tests/simulation/environment.h"
#include "tests/simulation/history/history.h"
#include "tests/simulation/simulated_transport.h"

namespace ingot::simulation {

// A timeout that no run reaches: every operation is answered.
inline constexpr std::uint64_t kTimeoutMsNever = 10'000'000;

// How the clients of one run behave; drawn from its seed.
struct ClientSchedule {
  int clients = 3;
  int window = 2;           // operations of one client in flight
  std::uint32_t keys = 3;
  double reads = 0.2;       // of all operations
  double compares = 0.3;    // of writes
  double churns = 0;        // of all operations: transactions of other keys
  double compacts = 0;      // after such a transaction: chance of a compaction at its revision
  double bursts = 0.1;      // chance of a pause after an operation
  TimeNs pause_ns = 10 * kMs;  // between two bursts, on average
  SessionBounds session;
  OutboxBounds outbox;
  bool reads_anywhere = false;  // any replica serves linearizable reads (2PC)
};

// The operations of all clients.
struct Workload {
  History history;
  std::vector<std::int64_t> floors;  // by operation: RevisionChecker::floor() at its call
  std::vector<std::vector<Value>> commands;  // by client, by sequence - 1: the operation
  int writes_left = 0;
  Moment moment = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;                 // acknowledged, or refused for lack of space
  std::uint64_t no_space = 0;               // of these, refused
  std::uint64_t unacknowledged_writes = 0;  // refused, or the client gave up waiting
  std::uint64_t repeats = 0;
  std::uint64_t unknown = 0;  // operations whose outcome the client gave up waiting for
  int open = 0;  // called, and without an outcome
};

// Not thread-safe.
class Client {
 public:
  // Client n of the run is endpoint replicas + n, and its session has number n.
  Client(int number, int replicas, const ClientSchedule& schedule, std::uint64_t seed, Environment& environment,
         Workload& workload);

  void poll(TimeNs now);
  TimeNs next_poll() const { return next_poll_; }
  // Whether waiting messages can leave now.
  bool may_flush() const;
  // For the report of a group that does not recover.
  std::string describe() const;
  // A replica's death, its next incarnation, or a stop; the client handles it at its next poll, which is due at once.
  void note(const Notice& notice) {
    notices_.push_back(notice);
    next_poll_ = 0;
  }
  // No more pauses between operations.
  void hurry(TimeNs now) {
    hurries_ = true;
    next_call_ = now;
    next_poll_ = now;
  }

  const std::string& violation() const { return violation_; }

 private:
  void handle(const Notice& notice, TimeNs now);
  void died(EndpointId replica, TimeNs now);
  void go_over_to_replicas();
  void note_applied();
  void execute(TimeNs now);
  void send(const SessionCore::Send& send);
  void call(TimeNs now);
  void draw(Operation& operation);
  void answered(Value number, const ReplicaReply& reply);
  void finish(Value number, const ReplicaReply& reply);
  void schedule();
  Operation& operation(Value number) { return workload_.history[number - 1]; }
  bool may_call() const {
    return workload_.writes_left > 0 && core_.in_flight() < static_cast<std::size_t>(schedule_.window);
  }

  const int number_;
  const int replicas_;
  const ClientSchedule schedule_;
  Prng prng_;
  Environment& environment_;
  Workload& workload_;
  SimulatedTransport transport_;
  Outbox outbox_;
  SessionCore core_;
  std::vector<Notice> notices_;
  std::vector<Incarnation> present_;  // by replica: the incarnation that the channel is with
  std::vector<Incarnation> newest_;   // by replica: known to have begun
  std::vector<Value> last_seen_;      // by key
  std::int64_t churned_at_ = 0;  // the revision of the last such transaction, until it is compacted; or 0
  std::int64_t refused_at_ = 0;  // the revision at which a write found no space, until this client has made some; or 0
  bool compacted_ = false;       // since then; it disarms the alarm next
  TimeNs now_ = 0;
  TimeNs next_call_ = 0;
  TimeNs next_poll_ = 0;
  bool hurries_ = false;
  std::string violation_;
};

}  // namespace ingot::simulation
