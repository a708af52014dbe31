#include "services/ingot_load/load_worker.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "core/check.h"
#include "services/ingot_load/key_names.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/outcome.h"
#include "services/ingot_load/stamped_value.h"

namespace ingot::load {
namespace {

// Sleeps until `then_ns`, or until the run is over, which it checks every 50 ms.
void sleep_until(std::uint64_t then_ns, const RunState& run) {
  constexpr std::uint64_t kSliceNs = 50'000'000;
  for (std::uint64_t now = now_ns(); now < then_ns && !run.over(now); now = now_ns()) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(then_ns - now, kSliceNs)));
  }
}

}  // namespace

LoadWorker::LoadWorker(const LoadOptions& options, int index, RunState& run, std::vector<Connection>& connections)
    : options_(options),
      index_(index),
      run_(run),
      prng_(options.seed * kLoadThreadsMax + static_cast<std::uint64_t>(index)),
      chooser_(options.distribution, static_cast<std::uint32_t>(options.keys)),
      ledger_(options.run, options.keep_ledger ? static_cast<std::uint32_t>(options.keys) : 0) {
  // Connection c belongs to worker c modulo threads, client i to connection i modulo connections.
  const int connection_count = static_cast<int>(connections.size());
  for (int i = 0; i < options.clients; ++i) {
    const int c = i % connection_count;
    if (c % options.threads != index) continue;
    LoadClient& client = clients_.emplace_back(static_cast<std::uint16_t>(i), connections[static_cast<std::size_t>(c)]);
    client.range.set_serializable(options.read_kind == ReadKind::kSerializable);
    if (open_loop()) free_.push_back(&client);
  }
}

void LoadWorker::run() {
  std::optional<std::thread> pacer;
  if (open_loop()) {
    pacer.emplace([this] { pace(); });
  } else {
    start_all();
  }
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    const std::lock_guard lock(mutex_);
    on_event(*static_cast<LoadClient*>(tag));
  }
  if (pacer) pacer->join();
}

LoadTotals LoadWorker::totals() {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void LoadWorker::start_all() {
  const std::lock_guard lock(mutex_);
  for (LoadClient& client : clients_) {
    const std::uint64_t now = now_ns();
    if (run_.take(now)) start(client, now);
  }
  issuing_ = false;
  close_if_done();
}

void LoadWorker::pace() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns: the default, 50 us, would delay every start
  const double period_ns = 1e9 * options_.threads / options_.rate_per_s;
  const double first_ns = period_ns * index_ / options_.threads;
  const auto due_ns = [&](std::uint64_t k) {
    return run_.start_ns() + static_cast<std::uint64_t>(first_ns + period_ns * static_cast<double>(k));
  };
  std::uint64_t k = 0;
  std::unique_lock lock(mutex_, std::defer_lock);
  while (true) {
    sleep_until(due_ns(k), run_);
    lock.lock();
    if (!start_when_free(lock, due_ns(k))) break;
    lock.unlock();
    ++k;
  }
  const std::uint64_t end_ns = std::min(now_ns(), run_.end_ns());
  if (run_.over(end_ns)) {
    for (; due_ns(k) < end_ns; ++k) ++not_started_;
  }
  issuing_ = false;
  close_if_done();
}

// Waits for a free client and starts it. False: the run is over.
bool LoadWorker::start_when_free(std::unique_lock<std::mutex>& lock, std::uint64_t intended_ns) {
  while (free_.empty() && !run_.over(now_ns())) freed_.wait_for(lock, std::chrono::milliseconds(50));
  if (free_.empty() || !run_.take(now_ns())) return false;
  LoadClient* client = free_.back();
  free_.pop_back();
  start(*client, intended_ns);
  return true;
}

void LoadWorker::start(LoadClient& client, std::uint64_t intended_ns) {
  client.intended_ns = intended_ns;
  client.key = chooser_.next(prng_);
  client.reading = prng_.chance(options_.read_share);
  ++outstanding_;
  if (client.reading) {
    write_key(options_.prefix, client.key, *client.range.mutable_key());
    client.floor = options_.keep_ledger ? ledger_.floor(client.key) : 0;
    client.start_range(queue_, options_.timeout);
    return;
  }
  client.write = client.next_write();
  write_key(options_.prefix, client.key, *client.put.mutable_key());
  make_value({options_.run, client.write}, client.put.key(), static_cast<std::size_t>(options_.value_bytes),
             *client.put.mutable_value());
  client.start_put(queue_, options_.timeout);
}

void LoadWorker::on_event(LoadClient& client) {
  --outstanding_;
  const std::uint64_t now = now_ns();
  const bool paused = std::exchange(client.pausing, false);
  if (!paused) finish(client, now);
  const bool down = paused ? !client.connected() : client.status.error_code() == grpc::StatusCode::UNAVAILABLE;
  if (down && !run_.over(now)) {
    ++outstanding_;
    client.start_pause(queue_, kLoadRetryPauseMs);
  } else if (open_loop()) {
    free_.push_back(&client);
    freed_.notify_one();
  } else if (run_.take(now)) {
    start(client, now);
  }
  close_if_done();
}

void LoadWorker::close_if_done() {
  if (!issuing_ && outstanding_ == 0) queue_.Shutdown();
}

void LoadWorker::finish(LoadClient& client, std::uint64_t now) {
  last_answer_ns_ = now;
  const Outcome outcome = outcome_of(client.status);
  const int code = client.status.error_code();
  if (code >= 0 && code < LoadTotals::kCodes) ++totals_.by_code[static_cast<std::size_t>(code)];
  totals_.acknowledged += outcome == Outcome::kAcknowledged;
  totals_.failed += outcome == Outcome::kFailed;
  totals_.unknown += outcome == Outcome::kUnknown;
  if (client.reading) {
    finish_range(client, outcome, now);
  } else {
    finish_put(client, outcome, now);
  }
}

void LoadWorker::finish_put(LoadClient& client, Outcome outcome, std::uint64_t now) {
  if (outcome == Outcome::kAcknowledged) {
    totals_.writes.record(now - client.intended_ns);
    run_.write_acknowledged(now);
    if (options_.keep_ledger) ledger_.acknowledged(client.key, client.put_reply.header().revision(), client.write);
  } else if (outcome == Outcome::kUnknown && options_.keep_ledger) {
    ledger_.unknown(client.write);
  }
}

void LoadWorker::finish_range(LoadClient& client, Outcome outcome, std::uint64_t now) {
  if (outcome != Outcome::kAcknowledged) return;
  totals_.reads.record(now - client.intended_ns);
  if (!options_.keep_ledger) return;
  const bool found = client.range_reply.kvs_size() == 1;
  const Revision seen = found ? client.range_reply.kvs(0).mod_revision() : 0;
  if (options_.read_kind == ReadKind::kLinearizable && seen < client.floor) ++totals_.stale_reads;
  if (found && !read_stamp(client.range.key(), client.range_reply.kvs(0).value())) ++totals_.corrupt_reads;
}

}  // namespace ingot::load
