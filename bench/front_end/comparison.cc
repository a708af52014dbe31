#include "bench/front_end/comparison.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "bench/kv_client.h"
#include "services/ingot_load/load_engine.h"

namespace ingot::bench {
namespace {

constexpr int kKeys = 1000;

load::LoadOptions load_options(const ChildServer& server, int value_bytes) {
  load::LoadOptions options;
  options.endpoint = server.endpoint();
  options.prefix = "bench/";
  options.keys = kKeys;
  options.value_bytes = value_bytes;
  options.timeout = std::chrono::seconds(10);
  return options;
}

absl::StatusOr<load::LoadResult> run(const load::LoadOptions& options) {
  static const std::atomic<bool> never{false};
  if (const absl::Status valid = load::validate(options); !valid.ok()) return valid;
  auto result = load::run_load(
      options, std::chrono::hours(1), [](const load::LoadProgress&) {}, never);
  if (!result.ok()) return result.status();
  if (result->totals.acknowledged == result->totals.operations() && result->totals.acknowledged > 0) return result;
  return absl::InternalError(absl::StrFormat("%d of %d requests to %s were not answered with OK",
                                             result->totals.operations() - result->totals.acknowledged,
                                             result->totals.operations(), options.endpoint));
}

double own_cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

absl::StatusOr<Sample> measure(const Setting& setting, const ChildServer& server, std::chrono::nanoseconds duration) {
  load::LoadOptions options = load_options(server, setting.value_bytes);
  options.clients = setting.clients;
  options.connections = setting.connections;
  options.read_share = setting.operation == Operation::kPut ? 0 : 1;
  options.read_kind =
      setting.operation == Operation::kGetSerializable ? load::ReadKind::kSerializable : load::ReadKind::kLinearizable;
  options.duration = duration;
  const double own_before_us = own_cpu_us();
  const std::uint64_t server_before_ns = server.cpu_ns();
  const auto result = run(options);
  if (!result.ok()) return result.status();
  const auto count = static_cast<double>(result->totals.acknowledged);
  const load::LatencyHistogram latency = result->totals.latency();
  Sample sample;
  sample.per_s = result->throughput_per_s();
  sample.p50_us = static_cast<double>(latency.quantile_ns(0.5)) * 1e-3;
  sample.p99_us = static_cast<double>(latency.quantile_ns(0.99)) * 1e-3;
  sample.server_cpu_us = static_cast<double>(server.cpu_ns() - server_before_ns) * 1e-3 / count;
  sample.client_cpu_us = (own_cpu_us() - own_before_us) / count;
  return sample;
}

// Without it the store would grow from measurement to measurement, by its speed, and with it the snapshots that are
// made meanwhile. The store frees the versions in steps afterwards, which count.
absl::Status drop_history(const ChildServer& server) {
  KvClient client(server.endpoint());
  const auto revision = client.put("bench/compacted", "");
  return revision.ok() ? client.compact(*revision) : revision.status();
}

}  // namespace

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::kPut:
      return "put";
    case Operation::kGetSerializable:
      return "get_serializable";
    case Operation::kGetLinearizable:
      return "get_linearizable";
  }
  return "?";
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Spread Comparison::ratio(const std::vector<Sample>& of, const std::vector<Sample>& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < of.size(); ++i) ratios.push_back(of[i].per_s / to[i].per_s);
  return spread_of(std::move(ratios));
}

absl::Status put_keys(const ChildServer& server, int value_bytes) {
  load::LoadOptions options = load_options(server, value_bytes);
  options.distribution = load::Distribution::kInTurn;
  options.read_share = 0;
  options.count = kKeys;
  options.timeout = std::chrono::seconds(30);
  return run(options).status();
}

absl::StatusOr<Comparison> compare(const Setting& setting, const OfEach<const ChildServer*>& servers, int repetitions,
                                   std::chrono::nanoseconds duration, absl::FunctionRef<void(const std::string&)> log) {
  Comparison comparison;
  comparison.setting = setting;
  OfEach<std::vector<Sample>>& samples = comparison.samples;
  const std::pair<const ChildServer*, std::vector<Sample>*> each[] = {
      {servers.ingot, &samples.ingot}, {servers.empty, &samples.empty}, {servers.loop, &samples.loop}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(repetitions); ++i) {
    if (const absl::Status dropped = drop_history(*servers.ingot); !dropped.ok()) return dropped;
    for (std::size_t turn = 0; turn < std::size(each); ++turn) {
      const auto& [server, into] = each[(i + turn) % std::size(each)];
      const auto sample = measure(setting, *server, duration);
      if (!sample.ok()) return sample.status();
      into->push_back(*sample);
    }
    log(absl::StrFormat("%s, %d clients, %d/%d: ingotd %.0f/s, empty handler %.0f/s, empty loop %.0f/s",
                        name_of(setting.operation), setting.clients, i + 1, repetitions, samples.ingot.back().per_s,
                        samples.empty.back().per_s, samples.loop.back().per_s));
  }
  return comparison;
}

}  // namespace ingot::bench
