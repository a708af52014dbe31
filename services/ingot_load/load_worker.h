// One thread's share of a load: some clients on some connections, and one completion queue.
//
// Closed loop: run() starts each client's next request when it has handled the answer to the last one. Open loop: a
// second thread starts requests at their times on clients that are free, and run() handles the answers. If no client is
// free, requests start late and their latency still counts from their intended start, so that a stall of the server
// shows in every request that it delayed.
//
// A client whose server is gone waits until its connection is up again: a dead server costs one unknown outcome per
// client, not thousands.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include <grpcpp/completion_queue.h>

#include "core/prng.h"
#include "services/ingot_load/load_client.h"
#include "services/ingot_load/load_options.h"
#include "services/ingot_load/load_totals.h"
#include "services/ingot_load/outcome.h"
#include "services/ingot_load/run_state.h"
#include "services/ingot_load/write_ledger.h"

namespace ingot::load {

class LoadWorker {
 public:
  // Worker `index` of options.threads. `options`, `run` and `connections` outlive it.
  LoadWorker(const LoadOptions& options, int index, RunState& run, std::vector<Connection>& connections);

  // Returns when the run is over and every request has its outcome. Call it once.
  void run();

  // The counts so far. Thread-safe.
  LoadTotals totals();

  // REQUIRES: run() has returned.
  const WriteLedger& ledger() const { return ledger_; }
  std::uint64_t not_started() const { return not_started_; }
  std::uint64_t last_answer_ns() const { return last_answer_ns_; }

 private:
  // All of these REQUIRE the lock.
  void start(LoadClient& client, std::uint64_t intended_ns);
  void finish(LoadClient& client, std::uint64_t now);
  void finish_put(LoadClient& client, Outcome outcome, std::uint64_t now);
  void finish_range(LoadClient& client, Outcome outcome, std::uint64_t now);
  void on_event(LoadClient& client);
  void close_if_done();

  bool open_loop() const { return options_.rate_per_s > 0; }
  void start_all();
  void pace();
  bool start_when_free(std::unique_lock<std::mutex>& lock, std::uint64_t intended_ns);

  const LoadOptions& options_;
  const int index_;
  RunState& run_;
  std::mutex mutex_;  // guards everything below while run() is executing
  std::condition_variable freed_;
  grpc::CompletionQueue queue_;
  Prng prng_;
  KeyChooser chooser_;
  std::deque<LoadClient> clients_;
  std::vector<LoadClient*> free_;  // open loop only
  int outstanding_ = 0;            // requests and pauses
  bool issuing_ = true;            // more requests may start though none is outstanding
  LoadTotals totals_;
  WriteLedger ledger_;
  std::uint64_t not_started_ = 0;
  std::uint64_t last_answer_ns_ = 0;
};

}  // namespace ingot::load
