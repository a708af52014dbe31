// The kernel's figures for an instance's processes, from /proc.
//
//   ingot_process_cpu_seconds_total{process}       user and system time; continues across restarts
//   ingot_process_resident_memory_bytes{process}   shared segments count in every process that touched them
//   ingot_process_open_fds{process}, ingot_process_threads{process}
//   ingot_process_start_time_seconds{process}      since 1970; of the supervisor as it noted it itself
//   ingot_process_restarts_total{process}          incarnations after the first; none for the supervisor, of which only
//                                                  the start time shows a restart
//
// And of the process that is asked, by the names that Prometheus's own clients give them:
//
//   process_cpu_seconds_total, process_virtual_memory_bytes, process_open_fds, process_max_fds,
//   process_start_time_seconds
//   process_resident_memory_bytes                  of all processes, since etcd's tools take it for what the keys need
//
// process is "supervisor", "front-end", "replica-N", or "replicas" when they share one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/metrics/page_snapshot.h"

namespace ingot::inline services_metrics {

struct ProcessUsage {
  std::uint64_t cpu_ticks = 0;  // in units of 1/sysconf(_SC_CLK_TCK) s
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  // since boot, in the unit of cpu_ticks
  std::uint64_t open_fds = 0;
};

// Nothing if there is no such process, or no permission to read it.
std::optional<ProcessUsage> read_process_usage(std::uint64_t pid);

// Thread-safe.
class ProcessCollectable final : public prometheus::Collectable {
 public:
  // Both outlive the object.
  ProcessCollectable(const DaemonConfig& config, const InstanceView& view);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const DaemonConfig& config_;
  const InstanceView& view_;
  const double boot_time_s_;  // read once: a start time must not change when the clock is set
  mutable std::mutex mutex_;
  mutable std::map<std::string, CounterResetAdjuster> cpu_;  // guarded by mutex_
};

}  // namespace ingot::services_metrics
