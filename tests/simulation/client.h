// A simulated client: a session with several operations under way, which it repeats until it is told of each. It finds
// the leader as the front end does: by what answers say, and by asking around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/requests/request.h"
#include "tests/simulation/environment.h"
#include "tests/simulation/history.h"

namespace ingot::simulation {

// How the clients of one run behave; drawn from its seed.
struct ClientSchedule {
  int clients = 3;
  int window = 2;           // operations of one client under way
  std::uint32_t keys = 3;
  double reads = 0.2;       // of all operations
  double compares = 0.3;    // of writes
  double bursts = 0.1;      // chance of a pause after an operation
  TimeNs pause_ns = 10 * kMs;  // between two bursts, on average
  TimeNs retry_ns = 20 * kMs;  // without an answer; then twice that, and so on, up to retry_max_ns
  TimeNs retry_max_ns = 200 * kMs;
  bool reads_anywhere = false;  // any replica serves linearizable reads (2PC)
};

// The operations of all clients.
struct Workload {
  History history;
  std::vector<std::int64_t> floors;  // by operation: RevisionChecker::floor() at its call
  std::vector<std::vector<Value>> numbers;  // by client, by sequence - 1: the operation, 0: a read
  int writes_left = 0;
  Moment moment = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t repeats = 0;
  int open = 0;  // called and not answered, or not called yet
};

// Not thread-safe.
class Client {
 public:
  // Client n of the run is endpoint replicas + n, and its session has number n.
  Client(int number, int replicas, const ClientSchedule& schedule, std::uint64_t seed, Environment& environment,
         Workload& workload);

  void poll(TimeNs now);
  TimeNs next_poll() const { return next_poll_; }
  bool idle() const { return pending_.empty(); }
  // No pauses from now on.
  void hurry(TimeNs now) {
    hurries_ = true;
    next_call_ = now;
    next_poll_ = now;
  }

  const std::string& violation() const { return violation_; }

 private:
  struct Pending {
    Value number = 0;
    std::uint64_t sequence = 0;
    int attempts = 0;
    int target = 0;
    TimeNs retry_at = 0;
  };

  void read_answers(TimeNs now);
  void take(const Response& response, int from, TimeNs now);
  void finish(std::size_t place, const Response& response);
  void follow(const Response& response, Pending& pending, int from, TimeNs now);
  void call(TimeNs now);
  void draw(Operation& operation);
  void attempt(Pending& pending, TimeNs now);
  void schedule();
  std::uint64_t acknowledged_below() const;
  Operation& operation(const Pending& pending) { return workload_.history[pending.number - 1]; }
  int endpoint() const { return replicas_ + number_; }
  int any_replica() { return static_cast<int>(prng_.below(static_cast<std::uint64_t>(replicas_))); }

  const int number_;
  const int replicas_;
  const ClientSchedule schedule_;
  Prng prng_;
  Environment& environment_;
  Workload& workload_;
  std::vector<Pending> pending_;
  std::vector<Value> last_seen_;  // by key
  int leader_ = 0;
  int acceptor_ = 0;
  std::uint64_t next_sequence_ = 1;
  TimeNs next_call_ = 0;
  TimeNs next_poll_ = 0;
  bool hurries_ = false;
  std::string violation_;
};

}  // namespace ingot::simulation
