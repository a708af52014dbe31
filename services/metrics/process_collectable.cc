#include "services/metrics/process_collectable.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replication/pages/instance_view.h"
#include "services/metrics/families.h"

namespace ingot {
namespace {

struct NamedProcess {
  std::string name;
  std::uint64_t pid;
};

std::vector<NamedProcess> processes(const DaemonConfig& config, const InstanceView& view) {
  std::vector<NamedProcess> all{{"supervisor", view.daemon->supervisor_pid.get()},
                                {"front-end", view.daemon->front_end.pid.get()}};
  if (config.isolation == Isolation::kThread) {
    if (!view.replicas.empty()) all.push_back({"replicas", view.daemon->replicas[0].pid.get()});
  } else {
    for (std::size_t id = 0; id < view.replicas.size(); ++id)
      all.push_back({absl::StrCat("replica-", id), view.daemon->replicas[id].pid.get()});
  }
  std::erase_if(all, [](const NamedProcess& process) { return process.pid == 0; });
  return all;
}

}  // namespace

std::optional<ProcessUsage> read_process_usage(std::uint64_t pid) {
  const std::string folder = absl::StrCat("/proc/", pid);
  std::ifstream file(folder + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  // Field 2, the command in parentheses, may contain any character; the fields after it are numbers (proc(5)).
  const std::string stat = text.str();
  const std::size_t command_end = stat.rfind(')');
  if (command_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(command_end + 1), ' ', absl::SkipWhitespace());
  const auto field = [&](std::size_t number) {  // numbered as in proc(5); `fields` begins with field 3
    std::uint64_t value = 0;
    return number - 3 < fields.size() && absl::SimpleAtoi(fields[number - 3], &value) ? value : 0;
  };
  ProcessUsage usage;
  usage.cpu_ticks = field(14) + field(15);
  usage.threads = field(20);
  usage.resident_bytes = field(24) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code error;
  std::filesystem::directory_iterator fds(folder + "/fd", error);
  if (!error) usage.open_fds = static_cast<std::uint64_t>(std::distance(begin(fds), end(fds)));
  return usage;
}

std::vector<prometheus::MetricFamily> ProcessCollectable::Collect() const {
  auto cpu = counter_family("ingot_process_cpu_seconds_total", "User and system time that the process has used.");
  auto memory = gauge_family("ingot_process_resident_memory_bytes",
                             "Resident memory; shared segments count in each process that touched them.");
  auto fds = gauge_family("ingot_process_open_fds", "Open file descriptors.");
  auto threads = gauge_family("ingot_process_threads", "Threads.");
  const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::lock_guard lock(mutex_);
  for (const NamedProcess& process : processes(config_, view_)) {
    const std::optional<ProcessUsage> usage = read_process_usage(process.pid);
    if (!usage) continue;
    std::array<std::uint64_t, 1> ticks{usage->cpu_ticks};
    static constexpr std::array kKinds{CounterResetAdjuster::Kind::kSum};
    cpu_[process.name].adjust(process.pid, kKinds, ticks);
    const std::vector<prometheus::ClientMetric::Label> labels{{"process", process.name}};
    add_value(cpu, labels, static_cast<double>(ticks[0]) / ticks_per_s);
    add_value(memory, labels, static_cast<double>(usage->resident_bytes));
    add_value(fds, labels, static_cast<double>(usage->open_fds));
    add_value(threads, labels, static_cast<double>(usage->threads));
  }
  return {std::move(cpu), std::move(memory), std::move(fds), std::move(threads)};
}

}  // namespace ingot
