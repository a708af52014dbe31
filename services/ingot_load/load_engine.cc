#include "services/ingot_load/load_engine.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "replication/view/tickets/connect.h"
#include "services/cli/endpoint.h"
#include "services/ingot_load/load_worker.h"
#include "services/ingot_load/nothing_answers.h"
#include "services/ingot_load/run_state.h"
#include "services/sockets/socket_path.h"

namespace ingot::load {
namespace {

// The workers, which connect on the caller's thread and then run on threads of their own.
class Crew {
 public:
  // Begins to connect.
  Crew(const LoadOptions& options, const rpc::client::Target& target) {
    for (int i = 0; i < options.threads; ++i) workers_.emplace_back(options, i, target);
  }

  // False: not all connections were up by the deadline.
  bool connect(std::chrono::steady_clock::time_point deadline) {
    return std::all_of(workers_.begin(), workers_.end(), [&](LoadWorker& worker) { return worker.connect(deadline); });
  }

  // Call it once. The threads run until wait_for returns that all have ended.
  void start(RunState& run) {
    running_ = static_cast<int>(workers_.size());
    for (LoadWorker& worker : workers_) {
      threads_.emplace_back([this, &worker, &run] {
        worker.run(run);
        const std::lock_guard lock(mutex_);
        --running_;
        ended_.notify_one();
      });
    }
  }
  ~Crew() {
    for (std::thread& thread : threads_) thread.join();
  }

  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return running_ == 0; });
  }

  LoadTotals totals() {
    LoadTotals all;
    for (LoadWorker& worker : workers_) all.merge(worker.totals());
    return all;
  }

  const std::deque<LoadWorker>& workers() const { return workers_; }

 private:
  std::deque<LoadWorker> workers_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_ = 0;
};

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0;
}

// When the run ended: at its set time or, if it ended otherwise, with the last answer.
std::uint64_t finish_ns(const RunState& run, const Crew& crew) {
  std::uint64_t last_ns = run.start_ns();
  for (const LoadWorker& worker : crew.workers()) last_ns = std::max(last_ns, worker.last_answer_ns());
  const bool whole_duration = now_ns() >= run.end_ns();
  return whole_duration ? run.end_ns() : last_ns;
}

}  // namespace

absl::StatusOr<LoadResult> run_load(const LoadOptions& options, std::chrono::milliseconds progress_every,
                                    absl::FunctionRef<void(const LoadProgress&)> progress,
                                    const std::atomic<bool>& stop) {
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  const auto target = rpc::client::resolve_target(options.endpoint);
  if (!target.ok()) return target.status();
  if (options.read_kind == ReadKind::kView) {  // a sentence says why there is none
    const auto view = ViewConnection::open(view_socket_path(*unix_path(options.endpoint)));
    if (!view.ok()) return view.status();
  }
  Crew crew(options, *target);
  if (!crew.connect(deadline)) return nothing_answers(options.endpoint, options.timeout);
  RunState run(options, stop);
  crew.start(run);
  while (!crew.wait_for(progress_every)) progress({seconds_between(run.start_ns(), now_ns()), crew.totals()});

  const std::uint64_t finish = finish_ns(run, crew);
  LoadResult result;
  result.totals = crew.totals();
  result.elapsed_s = seconds_between(run.start_ns(), finish);
  result.gap_ms_max = static_cast<double>(run.gap_ns_max(finish)) * 1e-6;
  result.ledger = WriteLedger(options.run, options.keep_ledger ? static_cast<std::uint32_t>(options.keys) : 0);
  for (const LoadWorker& worker : crew.workers()) {
    result.ledger.merge(worker.ledger());
    result.not_started += worker.not_started();
  }
  return result;
}

}  // namespace ingot::load
