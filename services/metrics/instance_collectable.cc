#include "services/metrics/instance_collectable.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/replica_set.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_settings.h"
#include "services/metrics/families.h"
#include "services/status/status.h"

namespace ingot::inline services_metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<prometheus::ClientMetric::Label>;

MetricFamily build_info(const DaemonConfig& config) {
  MetricFamily family = gauge_family("ingot_build_info", "What runs, in its labels; always 1.");
  Labels labels{{"version", kIngotVersion}, {"name", config.name}};
  visit_settings(config, [&](const auto& setting) {
    if (setting.has(settings::kLabel)) labels.push_back({setting.key, setting_text(setting, config)});
  });
  add_value(family, std::move(labels), 1);
  return family;
}

MetricFamily start_time(const DaemonPage& page) {
  MetricFamily family = gauge_family("ingot_start_time_seconds",
                                     "When the instance started, with an empty state, in seconds since 1970.");
  add_value(family, {}, static_cast<double>(page.start_unix_ms.get()) / 1e3);
  return family;
}

std::string replica_name(std::size_t id) { return std::to_string(id); }

// Endpoint `replicas` is the front end's first loop; its other loops follow, then the view's publisher.
std::string endpoint_name(std::size_t endpoint, std::size_t replicas, std::size_t loops) {
  if (endpoint < replicas) return replica_name(endpoint);
  if (endpoint == replicas) return "front-end";
  const std::size_t loop = endpoint - replicas;
  if (loop == loops) return "view";
  return loop < loops ? absl::StrCat("front-end-", loop) : absl::StrCat("client-", endpoint);
}

// The role is the status's: the page of a replica that is dead or was overtaken while it was stopped shows an old one.
std::uint64_t role_number(const control_v1::Replica& replica) {
  return static_cast<std::uint64_t>(replica.role() - control_v1::ROLE_REPLICA);
}

void add_counters(const std::vector<PageSnapshot>& pages, const control_v1::GetStatusResponse& status,
                  std::vector<MetricFamily>& families) {
  for (std::size_t i = 0; i < kReplicaCounterSpecs.size(); ++i) {
    const auto id = static_cast<ReplicaCounter>(i);
    // A digest is 64 bits of noise, of which a double holds 53; a steady-clock time has no meaning outside the machine.
    if (id == ReplicaCounter::kDigest || id == ReplicaCounter::kBlockedSinceNs) continue;
    const CounterSpec& spec = kReplicaCounterSpecs[i];
    const std::string name = absl::StrCat("ingot_", spec.name);
    MetricFamily family = spec.kind == CounterKind::kCounter ? counter_family(name, spec.help)
                                                             : gauge_family(name, spec.help);
    const double scale = metric_scale(spec.unit);
    for (std::size_t r = 0; r < pages.size(); ++r) {
      const std::uint64_t value =
          id == ReplicaCounter::kRole ? role_number(status.replicas(static_cast<int>(r))) : pages[r].counter(id);
      add_value(family, {{"replica", replica_name(r)}}, scale * static_cast<double>(value));
    }
    families.push_back(std::move(family));
  }
}

// As one number: the mask among the counters has all replicas.
MetricFamily blocked_by(const std::vector<PageSnapshot>& pages) {
  MetricFamily family = gauge_family(
      "ingot_replica_blocked_by", "Lowest id of the replicas that agreement waits for; -1: it waits for none.");
  for (std::size_t r = 0; r < pages.size(); ++r) {
    const ReplicaSet by = ReplicaSet::from_bits(pages[r].counter(ReplicaCounter::kBlockedBy));
    add_value(family, {{"replica", replica_name(r)}}, by.empty() ? -1 : static_cast<double>((*by.begin()).value()));
  }
  return family;
}

// A histogram's buckets are cumulative; the page's are not.
MetricFamily batch_sizes(const std::vector<PageSnapshot>& pages) {
  MetricFamily family{"ingot_batch_commands", "Commands per decided batch.", MetricType::Histogram, {}};
  for (std::size_t r = 0; r < pages.size(); ++r) {
    prometheus::ClientMetric metric;
    metric.label = {{"replica", replica_name(r)}};
    auto& histogram = metric.histogram;
    for (std::size_t b = 0; b < kBatchBuckets.size(); ++b) {
      histogram.sample_count += pages[r].batches(b);
      histogram.bucket.push_back({histogram.sample_count, static_cast<double>(kBatchBuckets[b])});
    }
    histogram.sample_count += pages[r].batches(kBatchBuckets.size());
    histogram.sample_sum = static_cast<double>(pages[r].batch_commands_sum());
    family.metric.push_back(std::move(metric));
  }
  return family;
}

using LinkValue = std::uint64_t (PageSnapshot::*)(std::size_t) const;

// `outgoing`: the page's replica is the sender.
MetricFamily links(const std::vector<PageSnapshot>& pages, const char* name, const char* help, LinkValue value,
                   bool outgoing, std::size_t loops) {
  MetricFamily family = counter_family(name, help);
  for (std::size_t r = 0; r < pages.size(); ++r) {
    for (std::size_t e = 0; e < kEndpointsMax; ++e) {
      const std::uint64_t count = (pages[r].*value)(e);
      if (count == 0) continue;
      const std::string here = replica_name(r), there = endpoint_name(e, pages.size(), loops);
      add_value(family, {{"from", outgoing ? here : there}, {"to", outgoing ? there : here}},
                static_cast<double>(count));
    }
  }
  return family;
}

// `loops`: of the front end.
void add_links(const std::vector<PageSnapshot>& pages, std::size_t loops, std::vector<MetricFamily>& families) {
  const auto add = [&](const char* name, const char* help, LinkValue value, bool outgoing) {
    families.push_back(links(pages, name, help, value, outgoing, loops));
  };
  add("ingot_link_sent_messages_total", "Messages sent, counted by the sender.", &PageSnapshot::sent_messages, true);
  add("ingot_link_sent_bytes_total", "Bytes of messages sent, counted by the sender.", &PageSnapshot::sent_bytes, true);
  add("ingot_link_received_messages_total", "Messages received, counted by the receiver.",
      &PageSnapshot::received_messages, false);
  add("ingot_link_received_bytes_total", "Bytes of messages received, counted by the receiver.",
      &PageSnapshot::received_bytes, false);
}

void add_status(const control_v1::GetStatusResponse& status, std::vector<MetricFamily>& families) {
  static constexpr std::array<std::pair<control_v1::State, const char*>, 4> kStates{{
      {control_v1::STATE_UP, "up"},
      {control_v1::STATE_STARTING, "starting"},
      {control_v1::STATE_STOPPED, "stopped"},
      {control_v1::STATE_DEAD, "dead"},
  }};
  MetricFamily states = gauge_family("ingot_replica_state", "1 for the state that the replica is in, else 0.");
  MetricFamily lags = gauge_family("ingot_replica_lag_slots", "Slots decided somewhere and not applied here.");
  MetricFamily incarnations =
      gauge_family("ingot_replica_incarnation", "Which incarnation of the replica this is, from 1.");
  MetricFamily cores = gauge_family("ingot_replica_core", "Core that the replica was placed on.");
  for (const auto& replica : status.replicas()) {
    const Labels labels{{"replica", replica_name(replica.id())}};
    for (const auto& [state, name] : kStates) {
      Labels with_state = labels;
      with_state.push_back({"state", name});
      add_value(states, with_state, replica.state() == state ? 1 : 0);
    }
    add_value(lags, labels, static_cast<double>(replica.lag()));
    add_value(incarnations, labels, replica.incarnation());
    add_value(cores, labels, replica.core());
  }
  for (MetricFamily* family : {&states, &lags, &incarnations, &cores}) families.push_back(std::move(*family));
  MetricFamily blocked =
      gauge_family("ingot_blocked", "1 while agreement is blocked, as ingotctl status says; 0: it is not.");
  add_value(blocked, {}, status.has_blocked() ? 1 : 0);
  MetricFamily blocked_seconds = gauge_family(
      "ingot_blocked_seconds", "For how long agreement has been blocked; 0: it is not, or the time is not known.");
  const auto& duration = status.blocked().duration();
  add_value(blocked_seconds, {}, static_cast<double>(duration.seconds()) + duration.nanos() * 1e-9);
  for (MetricFamily* family : {&blocked, &blocked_seconds}) families.push_back(std::move(*family));
}

void add_kept_segments(const DaemonPage& page, std::vector<MetricFamily>& families) {
  MetricFamily bytes = gauge_family("ingot_kept_segments_bytes",
                                    "Memory of stable segments of ended incarnations that no snapshot replaces.");
  add_value(bytes, {}, static_cast<double>(page.kept_segments_bytes.get()));
  MetricFamily number = gauge_family("ingot_kept_segments", "Their number.");
  add_value(number, {}, static_cast<double>(page.kept_segments.get()));
  for (MetricFamily* family : {&bytes, &number}) families.push_back(std::move(*family));
}

MetricFamily stops(const DaemonPage& page) {
  MetricFamily family = counter_family(
      "ingot_stops_total", "Stops of replicas that the kernel reported, by whether the others doubted them for it.");
  add_value(family, {{"doubted", "yes"}}, static_cast<double>(page.doubted_stops.get()));
  add_value(family, {{"doubted", "no"}}, static_cast<double>(page.undoubted_stops.get()));
  return family;
}

void add_supervision(const DaemonPage& page, const control_v1::Supervisor& supervisor,
                     std::vector<MetricFamily>& families) {
  MetricFamily up = gauge_family("ingot_supervisor_up",
                                 "1 while the supervisor runs; 0: it is dead or stopped, and nothing is restarted.");
  add_value(up, {}, supervisor.state() == control_v1::STATE_UP ? 1 : 0);
  MetricFamily hangs = counter_family("ingot_front_end_hangs_total",
                                      "Front ends that the supervisor killed since they answered nothing.");
  add_value(hangs, {}, static_cast<double>(page.front_end_hangs.get()));
  for (MetricFamily* family : {&up, &hangs}) families.push_back(std::move(*family));
}

}  // namespace

InstanceCollectable::InstanceCollectable(const DaemonConfig& config, const InstanceView& view)
    : config_(config), view_(view), adjusters_(view.replicas.size()) {}

std::vector<PageSnapshot> InstanceCollectable::read_pages() const {
  const std::lock_guard lock(mutex_);
  std::vector<PageSnapshot> pages;
  for (std::size_t r = 0; r < view_.replicas.size(); ++r) {
    pages.emplace_back(*view_.replicas[r]);
    pages.back().adjust(adjusters_[r]);
  }
  return pages;
}

std::vector<MetricFamily> InstanceCollectable::Collect() const {
  std::vector<PageSnapshot> pages = read_pages();
  std::vector<MetricFamily> families{build_info(config_), start_time(*view_.daemon)};
  const control_v1::GetStatusResponse status = read_status(config_, view_, unix_now_ms());
  for (std::size_t r = 0; r < pages.size(); ++r) {
    if (status.replicas(static_cast<int>(r)).state() != control_v1::STATE_UP) pages[r].clear_blocked();
  }
  add_counters(pages, status, families);
  families.push_back(blocked_by(pages));
  families.push_back(batch_sizes(pages));
  add_links(pages, static_cast<std::size_t>(front_end_endpoints(config_)), families);
  MetricFamily refused = counter_family("ingot_supervision_refused_messages_total",
                                        "Messages of the instance's processes that the supervisor refused: malformed.");
  add_value(refused, {}, static_cast<double>(view_.daemon->refused_messages.get()));
  families.push_back(std::move(refused));
  families.push_back(stops(*view_.daemon));
  add_kept_segments(*view_.daemon, families);
  add_status(status, families);
  if (status.has_supervisor()) add_supervision(*view_.daemon, status.supervisor(), families);
  return families;
}

}  // namespace ingot::services_metrics
