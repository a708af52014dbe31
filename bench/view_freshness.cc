// bench/view_freshness: how long after a put's answer another reader sees it: one that reads a view in place and
// demands the put's revision, and a watch of etcd's API. Against an instance that runs, with other writes beside.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/statistics.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/view/handle/handle.h"
#include "replication/view/tickets/connect.h"
#include "services/cli/cli.h"
#include "services/cli/endpoint.h"
#include "services/ingot_load/load_engine.h"
#include "services/sockets/socket_path.h"

namespace {

using namespace ingot;
using namespace ingot::bench;
using Clock = std::chrono::steady_clock;

constexpr int kKeys = 100;
constexpr int kWaitMs = 10'000;
constexpr auto kEventPatience = std::chrono::seconds(10);

struct Flags {
  std::string endpoint;
  int puts = 2000;
  int pause_us = 1000;
  int load_per_s = 0;
  std::string output = "table";
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

std::string key_of(int put) { return absl::StrCat("freshness/", put % kKeys); }

// Other clients' puts, so many a second, while it lives. The rate that was reached is in its report.
class OtherWrites {
 public:
  OtherWrites(const std::string& endpoint, int per_s) {
    if (per_s == 0) return;
    options_.endpoint = endpoint;
    options_.clients = 32;
    options_.read_share = 0;
    options_.rate_per_s = per_s;
    options_.duration = std::chrono::hours(1);
    options_.prefix = "other/";
    thread_ = std::thread([this] {
      const auto result = load::run_load(
          options_, std::chrono::hours(1), [](const load::LoadProgress&) {}, stop_);
      if (result.ok()) per_s_ = result->throughput_per_s();
    });
  }
  double end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return per_s_;
  }
  ~OtherWrites() { end(); }

 private:
  load::LoadOptions options_;
  std::atomic<bool> stop_{false};
  double per_s_ = 0;
  std::thread thread_;
};

// A watch of all keys that are put; notes when each event came.
class Watcher {
 public:
  Watcher(etcdserverpb::Watch::Stub& stub, int puts)
      : came_ns_(static_cast<std::size_t>(puts)), stream_(stub.Watch(&context_)) {
    etcdserverpb::WatchRequest request;
    request.mutable_create_request()->set_key("freshness/");
    request.mutable_create_request()->set_range_end("freshness0");
    stream_->Write(request);
    etcdserverpb::WatchResponse created;
    stream_->Read(&created);
    thread_ = std::thread([this] {
      etcdserverpb::WatchResponse response;
      while (stream_->Read(&response)) {
        const std::int64_t now = now_ns();
        for (const auto& event : response.events()) {
          const auto put = static_cast<std::size_t>(std::stoul(event.kv().value()));
          if (put < came_ns_.size()) came_ns_[put] = now;
        }
      }
    });
  }
  ~Watcher() {
    context_.TryCancel();
    thread_.join();
    stream_->Finish();
  }

  // 0: never within the patience.
  std::int64_t came_ns(int put) const {
    const auto& came = came_ns_[static_cast<std::size_t>(put)];
    for (const auto until = Clock::now() + kEventPatience; came == 0 && Clock::now() < until;) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return came;
  }

 private:
  std::vector<std::atomic<std::int64_t>> came_ns_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>> stream_;
  std::thread thread_;
};

struct Measured {
  std::vector<double> put_us, view_us, watch_us;  // of a put; from its answer on
};

absl::StatusOr<Measured> measure(const Flags& flags, const std::string& view_socket) {
  const auto channel = grpc::CreateChannel(flags.endpoint, grpc::InsecureChannelCredentials());
  const auto kv = etcdserverpb::KV::NewStub(channel);
  const auto watch = etcdserverpb::Watch::NewStub(channel);
  Watcher watcher(*watch, flags.puts);
  ViewHandle handle(connect_view(view_socket), {.wait_ms = kWaitMs}, 1);
  if (handle.wait_for(0, kWaitMs) != ViewError::kNone) {
    return absl::UnavailableError(absl::StrCat("the instance has no view: ", handle.refusal().message()));
  }
  Measured measured;
  ViewAnswer answer;
  for (int put = 0; put < flags.puts; ++put) {
    std::this_thread::sleep_for(std::chrono::microseconds(flags.pause_us));
    etcdserverpb::PutRequest request;
    request.set_key(key_of(put));
    request.set_value(std::to_string(put));
    etcdserverpb::PutResponse response;
    grpc::ClientContext context;
    const std::int64_t begun_ns = now_ns();
    const grpc::Status status = kv->Put(&context, request, &response);
    const std::int64_t answered_ns = now_ns();
    if (!status.ok()) return absl::UnavailableError(status.error_message());
    handle.require(response.header().revision());
    const ViewError error = handle.get(request.key(), answer);
    const std::int64_t seen_ns = now_ns();
    if (error != ViewError::kNone || answer.empty() || answer[0].value != request.value()) {
      return absl::InternalError(absl::StrCat("the view does not show put ", put, ": ", sentence_of(error)));
    }
    const std::int64_t came_ns = watcher.came_ns(put);
    if (came_ns == 0) return absl::UnavailableError("an event did not come");
    const auto us = [](std::int64_t from, std::int64_t to) { return static_cast<double>(to - from) / 1000; };
    measured.put_us.push_back(us(begun_ns, answered_ns));
    measured.view_us.push_back(us(answered_ns, seen_ns));
    measured.watch_us.push_back(us(answered_ns, came_ns));
  }
  return measured;
}

void report(const Flags& flags, const Measured& measured, double others_per_s) {
  const std::pair<const char*, const std::vector<double>&> rows[] = {
      {"put", measured.put_us}, {"view", measured.view_us}, {"watch", measured.watch_us}};
  for (const auto& [what, values] : rows) {
    const Quantiles q = quantiles_of(values);
    if (flags.output == "table") {
      std::printf("%-6s %8.0f us (%.0f to %.0f)  beside %.0f other puts/s\n", what, q.median, q.p10, q.p90,
                  others_per_s);
      continue;
    }
    nlohmann::ordered_json object{{"benchmark", "view_freshness"}, {"what", what}, {"puts", flags.puts},
                                  {"others_per_s", static_cast<std::int64_t>(others_per_s)}};
    add(object, "us", q);
    std::cout << object.dump() << "\n";
  }
}

absl::Status run(const Flags& flags) {
  const auto path = unix_path(flags.endpoint);
  if (!path) {
    return absl::InvalidArgumentError(absl::StrCat("--endpoint: give the instance's Unix socket, beside which its view "
                                                   "socket is, as unix:PATH, and not ", flags.endpoint));
  }
  OtherWrites others(flags.endpoint, flags.load_per_s);
  const auto measured = measure(flags, view_socket_path(*path));
  const double others_per_s = others.end();
  if (!measured.ok()) return measured.status();
  report(flags, *measured, others_per_s);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long after a put's answer a reader of the view sees it, and a watch.", "view_freshness");
  Flags flags;
  add_endpoint(app, flags.endpoint);
  app.add_option("--puts", flags.puts, "that are measured, one after the other")
      ->check(whole_number(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--pause-us", flags.pause_us, "before each")->check(whole_number(0, 1'000'000))->capture_default_str();
  app.add_option("--load", flags.load_per_s, "puts of other clients a second, meanwhile")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
  app.footer(
      "put: from the request to its answer. view and watch: from then on, until a get that demands the put's revision\n"
      "ends, or the event comes; below 0: the event came before the answer. Medians, with the tenths at either end.\n"
      "Example: view_freshness --endpoint=unix:/run/ingot/ingot-2379.sock --load=5000");
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
