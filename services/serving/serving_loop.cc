#include "services/serving/serving_loop.h"

#include <algorithm>
#include <string>
#include <utility>

#include "services/config/limits.h"
#include "services/control/refused_stream.h"
#include "services/etcd/json_paths.h"
#include "services/rpc/loop/asio_waiter.h"
#include "services/rpc/server/limits.h"

namespace ingot::inline services_serving {

namespace {

// To what the settings allow. Of few streams, too, a share is left for calls that are passed on, and for those with one
// message (services/rpc/server/limits.h).
void narrow(rpc::ServerBounds& bounds, const DaemonConfig& config) {
  static_assert(kConcurrentStreamsMax == rpc::kStreamsPerConnectionMax);
  const auto streams = static_cast<int>(std::min(config.max_concurrent_streams, kConcurrentStreamsMax));
  const auto share = [streams](int of) {
    return static_cast<int>(std::int64_t{of} * streams / rpc::kStreamsPerConnectionMax);
  };
  bounds.streams_per_connection = streams;
  bounds.streaming_calls = share(bounds.streaming_calls);
  bounds.streaming_calls_all = share(bounds.streaming_calls_all);
  bounds.message_bytes -= static_cast<std::size_t>(kRequestBytesMax - config.max_request_bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServingLoop>> ServingLoop::create(WaitOptions wait) {
  auto io = std::make_unique<boost::asio::io_context>(1);  // one thread runs it
  auto loop = EventLoop::create(wait, {}, std::make_unique<rpc::AsioWaiter>(*io));
  if (!loop.ok()) return loop.status();
  auto tasks = LoopTasks::create();
  if (!tasks.ok()) return tasks.status();
  return std::unique_ptr<ServingLoop>(new ServingLoop(std::move(io), *std::move(loop), *std::move(tasks)));
}

ServingLoop::ServingLoop(std::unique_ptr<boost::asio::io_context> io, std::unique_ptr<EventLoop> loop,
                         std::shared_ptr<LoopTasks> tasks)
    : io_(std::move(io)), tasks_(std::move(tasks)), loop_(std::move(loop)) {}

// The end of the connections cancels the calls that are passed on. While these end, answers to other calls may come by
// the loop's tasks, which still find the server.
void ServingLoop::end() {
  if (locks_ != nullptr) locks_->drain();  // the client may be gone before the calls
  if (server_ != nullptr) server_->end();
  passing_.reset();
  server_.reset();
}

void ServingLoop::serve(const Parts& parts, ReplicaClient& client, std::shared_ptr<grpc::Channel> channel) {
  kv_ = std::make_unique<etcd::KvMethods>(client, parts.config, parts.view, parts.metrics,
                                          [this](LoopTasks::Task task) { tasks_->post(std::move(task)); });
  kv_->add_to(methods_);
  leases_ = std::make_unique<etcd::LeaseMethods>(client, parts.config, parts.view, parts.metrics);
  leases_->add_to(methods_);
  watches_ = std::make_unique<watch::WatchMethods>(client, parts.config, parts.view, parts.metrics,
                                                  watch_counters_);
  watches_->add_to(methods_);
  locks_ = std::make_unique<locks::LockMethods>(client, watches_->hub(), parts.config, parts.view, parts.metrics,
                                                [this](LoopTasks::Task task) { tasks_->post(std::move(task)); });
  locks_->add_to(methods_);
  etcd::add_json_paths(methods_);
  passing_ = std::make_unique<rpc::Passing>(std::move(channel), *tasks_, parts.passed_calls,
                                            [this](std::size_t bytes) { server_->count_freed(bytes); });
  methods_.set_fallback([this](rpc::Call call, std::string_view path) { return passing_->begin(call, path); });
  methods_.set_gate([&rules = parts.rules](const Caller& caller, std::string_view path) {
    return to_grpc(may_call(caller, path, rules));
  });
  rpc::Server::Options options;
  options.methods = &methods_;
  options.http1 = parts.http1;
  options.counters = &counters_;
  options.bounds.connections = std::min(options.bounds.connections, parts.connections);
  narrow(options.bounds, parts.config);
  server_ = std::make_unique<rpc::Server>(*io_, std::move(options));
  loop_->add(*server_);
  loop_->add(*passing_);
  loop_->add(watches_->hub());
  loop_->add(locks_->leaves());
  tasks_->attach(*loop_);
  loop_->at_round_end([this] { end_round(); });
}

void ServingLoop::end_round() {
  server_->flush();
  if (draining_ && server_->drained()) drained_.store(true, std::memory_order_release);
}

void ServingLoop::drain() {
  tasks_->post([this] {
    draining_ = true;
    if (leases_ != nullptr) leases_->drain();
    if (locks_ != nullptr) locks_->drain();
    if (watches_ != nullptr) watches_->drain();
    if (passing_ != nullptr) passing_->drain();
    if (server_ != nullptr) server_->drain();
  });
}

}  // namespace ingot::services_serving
