#include "services/ingot_load/load_worker.h"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "core/check.h"
#include "replication/view/tickets/connect.h"
#include "services/cli/endpoint.h"
#include "services/ingot_load/key_names.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/stamped_value.h"
#include "services/sockets/socket_path.h"

namespace ingot::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSliceNs = 50'000'000;  // between looks at whether the run is over

}  // namespace

LoadWorker::LoadWorker(const LoadOptions& options, int index, const rpc::client::Target& target)
    : options_(options),
      index_(index),
      io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE),  // one thread at a time: no locks
      prng_(options.seed * kLoadThreadsMax + static_cast<std::uint64_t>(index)),
      chooser_(options.distribution, static_cast<std::uint32_t>(options.keys)),
      pacer_(io_),
      ledger_(options.run, options.keep_ledger ? static_cast<std::uint32_t>(options.keys) : 0) {
  if (options.read_kind == ReadKind::kView) {
    view_ = std::make_unique<ViewHandle>(connect_view(view_socket_path(*unix_path(options.endpoint))),
                                         ViewDemands{.wait_ms = 0}, prng_());
  }
  // Connection c belongs to worker c modulo threads, client i to connection i modulo connections.
  for (int c = index; c < options.connections; c += options.threads) channels_.emplace_back(io_, target);
  for (int i = 0; i < options.clients; ++i) {
    const int c = i % options.connections;
    if (c % options.threads != index) continue;
    rpc::client::Channel& channel = channels_[static_cast<std::size_t>(c / options.threads)];
    LoadClient& client = clients_.emplace_back(static_cast<std::uint16_t>(i), io_, channel, *this);
    client.range.set_serializable(options.read_kind == ReadKind::kSerializable);
    if (open_loop()) free_.push_back(&client);
  }
}

bool LoadWorker::connect(Clock::time_point deadline) {
  const auto up = [](const rpc::client::Channel& channel) { return channel.connected(); };
  while (!std::all_of(channels_.begin(), channels_.end(), up)) {
    if (Clock::now() >= deadline) return false;
    io_.run_one_until(deadline);
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return view_ == nullptr || view_->wait_for(0, std::max<std::int64_t>(left.count(), 0)) == ViewError::kNone;
}

void LoadWorker::run(RunState& run) {
  run_ = &run;
  if (open_loop()) {
    const double period_ns = 1e9 * options_.threads / options_.rate_per_s;
    schedule_ = Schedule(run.start_ns(), period_ns * index_ / options_.threads, period_ns);
    pace();
  } else {
    start_all();
  }
  while (issuing_ || outstanding_ > 0) io_.run_one();
}

LoadTotals LoadWorker::totals() {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void LoadWorker::start_all() {
  for (LoadClient& client : clients_) {
    const std::uint64_t now = now_ns();
    if (run_->take(now)) start(client, now);
  }
  issuing_ = false;
}

void LoadWorker::pace() {
  if (start_due()) arm();
}

// Starts what is due on the clients that are free. False: no more requests start in this run.
bool LoadWorker::start_due() {
  while (issuing_) {
    const std::uint64_t now = now_ns();
    const bool over = run_->over(now);
    if (!over && (free_.empty() || schedule_.due_ns() > now)) return true;
    if (over || !run_->take(now)) {
      end_pacing(now);
      return false;
    }
    LoadClient* client = free_.back();
    free_.pop_back();
    const std::uint64_t due_ns = schedule_.due_ns();
    schedule_.take();
    start(*client, due_ns);
  }
  return false;
}

void LoadWorker::end_pacing(std::uint64_t now) {
  issuing_ = false;
  pacer_.cancel();
  const std::uint64_t end_ns = std::min(now, run_->end_ns());
  if (run_->over(end_ns)) not_started_ = schedule_.take_before(end_ns);
}

void LoadWorker::arm() {
  const std::uint64_t slice_ns = now_ns() + kSliceNs;
  const std::uint64_t wanted_ns = free_.empty() ? slice_ns : std::min(schedule_.due_ns(), slice_ns);
  if (armed_ns_ <= wanted_ns) return;
  armed_ns_ = wanted_ns;
  pacer_.expires_at(Clock::time_point(std::chrono::nanoseconds(wanted_ns)));
  pacer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    armed_ns_ = kNever;
    pace();
  });
}

void LoadWorker::start(LoadClient& client, std::uint64_t intended_ns) {
  client.intended_ns = intended_ns;
  client.key = chooser_.next(prng_);
  client.reading = prng_.chance(options_.read_share);
  ++outstanding_;
  if (client.reading) {
    write_key(options_.prefix, client.key, *client.range.mutable_key());
    client.floor = options_.keep_ledger ? ledger_.floor(client.key) : 0;
    if (view_ == nullptr) {
      client.start_range(options_.timeout);
    } else {
      read_in_place(client);
    }
    return;
  }
  client.write = client.next_write();
  write_key(options_.prefix, client.key, *client.put.mutable_key());
  make_value({options_.run, client.write}, client.put.key(), static_cast<std::size_t>(options_.value_bytes),
             *client.put.mutable_value());
  client.start_put(options_.timeout);
}

// What comes next waits for the loop: a client of a closed loop would go on for ever here.
void LoadWorker::read_in_place(LoadClient& client) {
  const ViewError error = view_->get(client.range.key(), view_answer_);
  const std::uint64_t now = now_ns();
  const bool failed = error != ViewError::kNone;
  client.status = failed ? grpc::Status(grpc::StatusCode::UNAVAILABLE, sentence_of(error)) : grpc::Status::OK;
  if (options_.keep_ledger) {
    client.range_reply.clear_kvs();
    if (!view_answer_.empty()) {
      mvccpb::KeyValue& kv = *client.range_reply.add_kvs();
      kv.set_mod_revision(view_answer_[0].revision);
      kv.set_value(std::string(view_answer_[0].value));
    }
  }
  count(client, now);
  boost::asio::post(io_, [this, &client, failed] {
    --outstanding_;
    go_on(client, failed, now_ns());
  });
}

void LoadWorker::answered(LoadClient& client) {
  --outstanding_;
  const std::uint64_t now = now_ns();
  count(client, now);
  // Nothing here cancels a request, but a server that is being stopped does, until its clients hear that it goes.
  const int code = client.status.error_code();
  go_on(client, code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED, now);
}

void LoadWorker::paused(LoadClient& client) {
  --outstanding_;
  go_on(client, !client.connected(), now_ns());
}

void LoadWorker::go_on(LoadClient& client, bool down, std::uint64_t now) {
  if (down && !run_->over(now)) {
    ++outstanding_;
    client.start_pause(std::chrono::milliseconds(kLoadRetryPauseMs));
  } else if (open_loop()) {
    free_.push_back(&client);
    if (free_.size() == 1) pace();  // requests may have waited for it; otherwise the pacer's time is right
  } else if (run_->take(now)) {
    start(client, now);
  }
}

void LoadWorker::count(LoadClient& client, std::uint64_t now) {
  last_answer_ns_ = now;
  const Outcome outcome = outcome_of(client.status);
  const int code = client.status.error_code();
  const std::lock_guard lock(mutex_);
  if (code >= 0 && code < LoadTotals::kCodes) ++totals_.by_code[static_cast<std::size_t>(code)];
  totals_.acknowledged += outcome == Outcome::kAcknowledged;
  totals_.failed += outcome == Outcome::kFailed;
  totals_.unknown += outcome == Outcome::kUnknown;
  if (client.reading) {
    count_range(client, outcome, now);
  } else {
    count_put(client, outcome, now);
  }
}

void LoadWorker::count_put(LoadClient& client, Outcome outcome, std::uint64_t now) {
  if (outcome == Outcome::kAcknowledged) {
    totals_.writes.record(now - client.intended_ns);
    run_->write_acknowledged(now);
    if (options_.keep_ledger) ledger_.acknowledged(client.key, client.put_reply.header().revision(), client.write);
  } else if (outcome == Outcome::kUnknown && options_.keep_ledger) {
    ledger_.unknown(client.write);
  }
}

void LoadWorker::count_range(LoadClient& client, Outcome outcome, std::uint64_t now) {
  if (outcome != Outcome::kAcknowledged) return;
  totals_.reads.record(now - client.intended_ns);
  if (!options_.keep_ledger) return;
  const bool found = client.range_reply.kvs_size() == 1;
  const Revision seen = found ? client.range_reply.kvs(0).mod_revision() : 0;
  if (options_.read_kind == ReadKind::kLinearizable && seen < client.floor) ++totals_.stale_reads;
  if (found && !read_stamp(client.range.key(), client.range_reply.kvs(0).value())) ++totals_.corrupt_reads;
}

}  // namespace ingot::load
