#include "services/metrics/log_collectable.h"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/log/log.h"
#include "services/metrics/families.h"

namespace ingot::inline services_metrics {
namespace {

struct Losses {
  std::string process;
  std::uint64_t lines;
};

std::vector<Losses> losses(const DaemonConfig& config, const InstanceView& view) {
  const DaemonPage& page = *view.daemon;
  // On the simulated chip one process is everything.
  const bool is_supervisor = page.supervisor_pid.get() == static_cast<std::uint64_t>(::getpid());
  std::vector<Losses> all{{"supervisor", is_supervisor ? log_lines_lost() : page.log_lines_lost.get()}};
  if (config.isolation == Isolation::kCore) return all;
  all.push_back({"front-end", log_lines_lost()});
  for (std::size_t id = 0; id < view.replicas.size(); ++id) {
    const std::uint64_t lines = view.replicas[id]->log_lines_lost.get();
    if (config.isolation != Isolation::kThread) {
      all.push_back({absl::StrCat("replica-", id), lines});
    } else if (id == 0) {
      all.push_back({"replicas", lines});
    } else {
      all.back().lines += lines;  // one of the pages counts for all
    }
  }
  return all;
}

}  // namespace

std::vector<prometheus::MetricFamily> LogCollectable::Collect() const {
  auto lost = counter_family("ingot_log_lines_lost_total", "Lines of the log that standard error did not take.");
  for (const Losses& each : losses(config_, view_)) {
    add_value(lost, {{"process", each.process}}, static_cast<double>(each.lines));
  }
  return {std::move(lost)};
}

}  // namespace ingot::services_metrics
