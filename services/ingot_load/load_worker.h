// One thread's share of a load: some clients on some connections, on one loop.
//
// Closed loop: each client's next request starts when the answer to the last one has been handled. Open loop: the
// loop's timer starts requests at their times on clients that are free. If no client is free, requests start late and
// their latency still counts from their intended start, so that a stall of the server shows in every request that it
// delayed.
//
// A client whose server is gone waits until its connection is up again: a dead server costs one unknown outcome per
// client, not thousands.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/prng.h"
#include "replication/view/handle/handle.h"
#include "services/ingot_load/load_client.h"
#include "services/ingot_load/load_options.h"
#include "services/ingot_load/load_totals.h"
#include "services/ingot_load/outcome.h"
#include "services/ingot_load/run_state.h"
#include "services/ingot_load/schedule.h"
#include "services/ingot_load/write_ledger.h"
#include "services/rpc/client/channel.h"

namespace ingot::load {

class LoadWorker final : public LoadClientOwner {
 public:
  // Worker `index` of options.threads; begins to connect to `target`. `options` outlives it.
  LoadWorker(const LoadOptions& options, int index, const rpc::client::Target& target);

  // Waits until all its connections are up. False: that was not so by the deadline.
  bool connect(std::chrono::steady_clock::time_point deadline);

  // Runs the loop until the run is over and every request has its outcome. Call it once.
  void run(RunState& run);

  // The counts so far. Thread-safe.
  LoadTotals totals();

  // REQUIRES: run() has returned.
  const WriteLedger& ledger() const { return ledger_; }
  std::uint64_t not_started() const { return not_started_; }
  std::uint64_t last_answer_ns() const { return last_answer_ns_; }

 private:
  void answered(LoadClient& client) override;
  void paused(LoadClient& client) override;

  void start(LoadClient& client, std::uint64_t intended_ns);
  void read_in_place(LoadClient& client);
  void count(LoadClient& client, std::uint64_t now);
  void count_put(LoadClient& client, Outcome outcome, std::uint64_t now);
  void count_range(LoadClient& client, Outcome outcome, std::uint64_t now);
  void go_on(LoadClient& client, bool down, std::uint64_t now);

  bool open_loop() const { return options_.rate_per_s > 0; }
  void start_all();
  void pace();
  bool start_due();
  void end_pacing(std::uint64_t now);
  void arm();

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  const LoadOptions& options_;
  const int index_;
  boost::asio::io_context io_;
  std::deque<rpc::client::Channel> channels_;
  RunState* run_ = nullptr;  // once run() has been called
  Prng prng_;
  KeyChooser chooser_;
  std::deque<LoadClient> clients_;
  std::unique_ptr<ViewHandle> view_;   // reads in place only
  ViewAnswer view_answer_;
  std::vector<LoadClient*> free_;      // open loop only
  boost::asio::steady_timer pacer_;    // the same: wakes up for the next request
  std::uint64_t armed_ns_ = kNever;    // the pacer's time
  Schedule schedule_{0, 0, 0};         // the same, of this worker's requests
  int outstanding_ = 0;                // requests and pauses
  bool issuing_ = true;                // more requests may start though none is outstanding
  std::mutex mutex_;                   // guards the totals
  LoadTotals totals_;
  WriteLedger ledger_;
  std::uint64_t not_started_ = 0;
  std::uint64_t last_answer_ns_ = 0;
};

}  // namespace ingot::load
