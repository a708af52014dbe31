#include "services/metrics/process_collectable.h"

#include <sys/resource.h>
#include <time.h>
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
#include "replication/pages/page_access.h"
#include "services/metrics/families.h"

namespace ingot::inline services_metrics {
namespace {

struct NamedProcess {
  std::string name;
  std::uint64_t pid;
  std::uint64_t started;            // as in ProcessEntry; 0: unknown
  std::uint64_t incarnation = 0;    // 0: not counted
  std::uint64_t start_unix_ms = 0;  // 0: not noted
};

std::vector<NamedProcess> processes(const DaemonConfig& config, const InstanceView& view) {
  const DaemonPage& page = *view.daemon;
  const ProcessName supervisor = supervisor_of(page);
  std::vector<NamedProcess> all{{.name = "supervisor",
                                 .pid = supervisor.pid,
                                 .started = supervisor.started,
                                 .start_unix_ms = page.supervisor_start_unix_ms.get()}};
  const auto add = [&](std::string name, const ProcessEntry& entry) {
    const ProcessName process = process_in(entry);
    all.push_back({.name = std::move(name),
                   .pid = process.pid,
                   .started = process.started,
                   .incarnation = entry.incarnation.get()});
  };
  add("front-end", page.front_end);
  if (config.isolation == Isolation::kThread) {
    if (!view.replicas.empty()) add("replicas", page.replicas[0]);
  } else {
    for (std::size_t id = 0; id < view.replicas.size(); ++id) add(absl::StrCat("replica-", id), page.replicas[id]);
  }
  return all;
}

// The time of /proc's clock 0, in seconds since 1970.
double boot_time_s() {
  const auto now_s = [](clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  return now_s(CLOCK_REALTIME) - now_s(CLOCK_BOOTTIME);
}

// Of a process's resident memory what other processes may have, too: files and shared segments.
std::uint64_t shared_bytes_of(std::uint64_t pid) {
  std::ifstream memory(absl::StrCat("/proc/", pid, "/statm"));  // in pages: size, resident, shared, ...
  std::uint64_t size = 0, resident = 0, shared = 0;
  if (!(memory >> size >> resident >> shared)) return 0;
  return shared * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Of all processes; what they share is counted once, as in the process that has most of it.
class WholeMemory {
 public:
  void add(std::uint64_t pid, const ProcessUsage& usage) {
    const std::uint64_t shared_bytes = std::min(shared_bytes_of(pid), usage.resident_bytes);
    private_bytes_ += usage.resident_bytes - shared_bytes;
    shared_bytes_ = std::max(shared_bytes_, shared_bytes);
  }
  double bytes() const { return static_cast<double>(private_bytes_ + shared_bytes_); }

 private:
  std::uint64_t private_bytes_ = 0, shared_bytes_ = 0;
};

// Of this process, as Prometheus's own clients name them; but the memory is that of all.
void add_own(double boot_s, const WholeMemory& memory, std::vector<prometheus::MetricFamily>& families) {
  const auto usage = read_process_usage(static_cast<std::uint64_t>(::getpid()));
  rlimit files{};
  if (!usage || ::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto add = [&families](prometheus::MetricFamily family, double value) {
    add_value(family, {}, value);
    families.push_back(std::move(family));
  };
  add(counter_family("process_cpu_seconds_total", "User and system time that the answering process has used."),
      static_cast<double>(usage->cpu_ticks) / ticks_per_s);
  add(gauge_family("process_resident_memory_bytes", "Resident memory of the instance's processes together."),
      memory.bytes());
  add(gauge_family("process_virtual_memory_bytes", "Its address space in use."),
      static_cast<double>(usage->virtual_bytes));
  add(gauge_family("process_open_fds", "Its open file descriptors."), static_cast<double>(usage->open_fds));
  add(gauge_family("process_max_fds", "File descriptors that it may have open."),
      static_cast<double>(files.rlim_cur));
  add(gauge_family("process_start_time_seconds", "When it started, in seconds since 1970."),
      boot_s + static_cast<double>(usage->start_ticks) / ticks_per_s);
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
  usage.start_ticks = field(22);
  usage.virtual_bytes = field(23);
  usage.resident_bytes = field(24) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code error;
  std::filesystem::directory_iterator fds(folder + "/fd", error);
  for (; !error && fds != end(fds); fds.increment(error)) ++usage.open_fds;  // the process may end meanwhile
  return usage;
}

ProcessCollectable::ProcessCollectable(const DaemonConfig& config, const InstanceView& view)
    : config_(config), view_(view), boot_time_s_(boot_time_s()) {}

std::vector<prometheus::MetricFamily> ProcessCollectable::Collect() const {
  auto cpu = counter_family("ingot_process_cpu_seconds_total", "User and system time that the process has used.");
  auto memory = gauge_family("ingot_process_resident_memory_bytes",
                             "Resident memory; shared segments count in each process that touched them.");
  auto fds = gauge_family("ingot_process_open_fds", "Open file descriptors.");
  auto threads = gauge_family("ingot_process_threads", "Threads.");
  auto starts = gauge_family("ingot_process_start_time_seconds", "When the process started, in seconds since 1970.");
  auto restarts = counter_family("ingot_process_restarts_total", "Incarnations after the first.");
  const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  WholeMemory whole;
  const std::lock_guard lock(mutex_);
  for (const NamedProcess& process : processes(config_, view_)) {
    const std::vector<prometheus::ClientMetric::Label> labels{{"process", process.name}};
    if (process.incarnation > 0) add_value(restarts, labels, static_cast<double>(process.incarnation - 1));
    const auto usage = process.pid == 0 ? std::nullopt : read_process_usage(process.pid);
    if (!usage || (process.started != 0 && process.started != usage->start_ticks)) continue;  // another has its pid
    std::array<std::uint64_t, 1> ticks{usage->cpu_ticks};
    static constexpr std::array kKinds{CounterResetAdjuster::Kind::kSum};
    whole.add(process.pid, *usage);
    cpu_[process.name].adjust(process.pid, kKinds, ticks);
    add_value(cpu, labels, static_cast<double>(ticks[0]) / ticks_per_s);
    add_value(memory, labels, static_cast<double>(usage->resident_bytes));
    add_value(fds, labels, static_cast<double>(usage->open_fds));
    add_value(threads, labels, static_cast<double>(usage->threads));
    const double start_s = process.start_unix_ms != 0
                               ? static_cast<double>(process.start_unix_ms) / 1e3
                               : boot_time_s_ + static_cast<double>(usage->start_ticks) / ticks_per_s;
    add_value(starts, labels, start_s);
  }
  std::vector<prometheus::MetricFamily> families;
  for (auto* family : {&cpu, &memory, &fds, &threads, &starts, &restarts}) families.push_back(std::move(*family));
  add_own(boot_time_s_, whole, families);
  return families;
}

}  // namespace ingot::services_metrics
