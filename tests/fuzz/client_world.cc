#include "tests/fuzz/client_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/etcd/json_paths.h"
#include "services/rpc/server/limits.h"
#include "tests/fuzz/client_schedule.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

constexpr std::size_t kSocketBytes = 64 * 1024;  // that a peer may have sent ahead
constexpr std::uint64_t kMsNs = 1'000'000;
constexpr int kRoundsMax = 20'000;

// Narrow, so that little is enough to reach them.
rpc::ServerBounds narrow_bounds() {
  rpc::ServerBounds bounds;
  bounds.streams_per_connection = 64;
  bounds.message_bytes = 512 * 1024;
  bounds.calls_taken_on = 16;
  bounds.large_calls = 2;
  bounds.unknown_bytes = 2 * 1024 * 1024;
  bounds.received_bytes_low = 256 * 1024;
  bounds.received_bytes = 1024 * 1024;
  bounds.received_bytes_all = 4 * 1024 * 1024;
  bounds.output_begin_bytes = 256 * 1024;
  bounds.output_bytes = 8 * 1024 * 1024;
  bounds.output_bytes_all = 4 * 1024 * 1024;
  return bounds;
}

// Counts only, which nothing here reads; one for all runs, since it is large.
RequestMetrics& metrics() {
  static RequestMetrics metrics;
  return metrics;
}

ReplicaPage& leader_page() {
  static const std::unique_ptr<ReplicaPage> page = [] {
    auto made = std::make_unique<ReplicaPage>();
    (*made)[ReplicaCounter::kRole].set(static_cast<std::uint64_t>(Role::kLeader));
    return made;
  }();
  return *page;
}

}  // namespace

World::World() : store_(meter_) {
  config_.name = "fuzz";
  config_.replicas = config_.voters = 1;
  view_.replicas = {&leader_page()};
  add_methods();
  shared_ = std::make_unique<rpc::Shared>(methods_, narrow_bounds(), nullptr);
  shared_->now_ns = 1'000'000'000'000;
  Link& ordinary = *links_.emplace_back(std::make_unique<Link>("10.0.0.1:1", true));
  ordinary.peer.gives_window = true;
  ordinary.progress_ns_ = shared_->now_ns;
  ordinary.session_ = rpc::Session::create(*shared_, ordinary);
  ordinary.peer.greet(65'535);
  watch_ordinary();
}

World::~World() {
  const HeapMeter::Section server(meter_, true);
  for (auto& link : links_) end(*link);
  shared_->handlers_over.clear();
}

// The handlers of watches are noted, to ask how much waits for their clients.
void World::add_methods() {
  kv_ = std::make_unique<etcd::KvMethods>(store_, config_, view_, metrics(), [this](std::function<void()> task) {
    later_.push_back(std::move(task));
  });
  kv_->add_to(methods_);
  leases_ = std::make_unique<etcd::LeaseMethods>(store_, config_, view_, metrics());
  leases_->add_to(methods_);
  watches_ = std::make_unique<watch::WatchMethods>(store_, config_, view_, metrics(), watch_counters_);
  rpc::Methods inner;
  watches_->add_to(inner);
  rpc::Method noted = *inner.find(kWatchPath);
  noted.stream = [this, stream = noted.stream](rpc::Call call) {
    auto handler = stream(call);
    const HeapMeter::Section test(meter_, false);
    if (call.open()) watch_calls_.push_back(call);
    return handler;
  };
  methods_.add(std::string(kWatchPath), std::move(noted));
  etcd::add_json_paths(methods_);
}

Client* World::connect(std::uint32_t stream_window) {
  if (clients() == kClientsMax) return nullptr;
  Link& link = *links_.emplace_back(std::make_unique<Link>(absl::StrCat("10.0.0.2:", ++links_made_), false));
  link.progress_ns_ = shared_->now_ns;
  link.peer.greet(stream_window);
  const HeapMeter::Section server(meter_, true);
  link.session_ = rpc::Session::create(*shared_, link);
  return &link;
}

void World::close(Client& client) {
  {
    const HeapMeter::Section server(meter_, true);
    end(static_cast<Link&>(client));
    shared_->handlers_over.clear();
  }
  std::erase_if(links_, [&](const auto& each) { return each.get() == &client; });
}

void World::put(const std::string& key, const std::string& value) {
  kv::PutRequest put;
  put.key = key, put.value = value;
  store_.write(put);
}

void World::remove(const std::string& key, const std::string& end) {
  kv::DeleteRangeRequest gone;
  gone.key = key, gone.range_end = end;
  store_.write(gone);
}

bool World::over() const { return rounds_ >= kRoundsMax; }

// The server runs.
void World::end(Link& link) {
  link.session_.reset();
  std::string().swap(link.unsent_);
}

void run_client(std::string_view bytes) {
  World world;
  Schedule(bytes, world).run();
}

// ---- A round ----

void World::round(std::uint64_t ms) {
  ++rounds_;
  shared_->now_ns += ms * kMsNs;
  leader_page()[ReplicaCounter::kStoreRevision].set(static_cast<std::uint64_t>(store_.revision()));
  for (auto& link : links_) link->peer.write(link->inbox_, kSocketBytes);
  serve();
  for (auto& link : links_) exchange(*link);
  check_memory();
  std::erase_if(links_, [&](const auto& link) { return !link->open() && link != links_.front(); });
}

// In the order in which a loop polls (services/serving/serving_loop.cc).
void World::serve() {
  const HeapMeter::Section server(meter_, true);
  rpc::Shared& shared = *shared_;
  shared.timers.run(shared.now_ns, rpc::kTimersPerRound);
  shared.turns.run(shared.counted_output_bytes(), shared.now_ns);
  for (auto& link : links_) read(*link);
  shared.turns.run(shared.counted_output_bytes(), shared.now_ns);
  shared.handlers_over.clear();
  for (const std::function<void()>& task : std::exchange(later_, {})) task();
  watches_->hub().poll(shared.now_ns);
  store_.pump(shared.now_ns);
  for (auto& link : links_) flush(*link);
  shared.handlers_over.clear();
}

void World::read(Link& link) {
  if (!link.open() || link.ending_ || link.inbox_.empty() || link.session_->hold_reading()) return;
  const std::size_t bytes = std::min(link.inbox_.size(), rpc::kTurnBytes);
  if (!link.session_->receive(std::string_view(link.inbox_).substr(0, bytes))) link.ending_ = true;
  const HeapMeter::Section test(meter_, false);
  link.inbox_.erase(0, bytes);
}

void World::flush(Link& link) {
  if (!link.open()) return;
  rpc::Session& session = *link.session_;
  if (session.overflowed()) return end(link);
  if (link.unsent_.empty()) {
    const bool well = session.frames(link.unsent_);
    if (!well || (link.unsent_.size() < rpc::kWriteBytes && session.over())) link.ending_ = true;
    session.tell_writable();
  }
  if (link.ending_ && link.unsent_.empty()) return end(link);
  look_at_progress(link);
}

void World::look_at_progress(Link& link) {
  const std::uint64_t now_ns = shared_->now_ns;
  if (link.owed_bytes() == 0) link.progress_ns_ = now_ns;
  const bool pressed = shared_->turns.pressed(shared_->counted_output_bytes());
  const std::uint64_t patience_ms = pressed ? rpc::kStalledUnderPressureMs : rpc::kStalledWriteMs;
  if (now_ns > link.progress_ns_ + patience_ms * kMsNs) end(link);
}

// The peer takes what it wants.
void World::exchange(Link& link) {
  if (!link.open()) return;
  const std::size_t bytes = std::min(link.reads_bytes, link.unsent_.size());
  if (bytes == 0) return;
  link.peer.receive(std::string_view(link.unsent_).substr(0, bytes));
  link.progress_ns_ = shared_->now_ns;
  const HeapMeter::Section server(meter_, true);
  link.session_->bytes_sent(bytes);
  if (bytes == link.unsent_.size()) {
    std::string().swap(link.unsent_);
  } else {
    link.unsent_.erase(0, bytes);
  }
}

}  // namespace ingot::fuzz
