#include "replication/pages/instance_view.h"
#include "services/metrics/process_collectable.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

std::uint64_t self() { return static_cast<std::uint64_t>(::getpid()); }

TEST_CASE("a process's usage shows its time, memory, descriptors and threads") {
  const ProcessUsage before = read_process_usage(self()).value();
  CHECK(before.resident_bytes > 100'000);
  CHECK(before.threads == 1);
  CHECK(before.start_ticks > 0);

  const int fd = ::open("/dev/null", O_RDONLY);
  std::atomic<bool> stop{false};
  std::thread busy([&] { while (!stop) std::this_thread::yield(); });
  ProcessUsage after = read_process_usage(self()).value();
  CHECK(after.open_fds == before.open_fds + 1);
  CHECK(after.threads == 2);
  while (after.cpu_ticks < before.cpu_ticks + 3) after = read_process_usage(self()).value();
  stop = true;
  busy.join();
  ::close(fd);
}

TEST_CASE("a missing process has no usage") { CHECK(!read_process_usage(0xffffffff)); }

const prometheus::MetricFamily& family(const std::vector<prometheus::MetricFamily>& families, const std::string& name) {
  return *std::find_if(families.begin(), families.end(), [&](const auto& each) { return each.name == name; });
}

// The value of the process's gauge or counter.
double value(const std::vector<prometheus::MetricFamily>& families, const std::string& name,
             const std::string& process) {
  for (const auto& metric : family(families, name).metric) {
    if (metric.label.at(0).value == process) return metric.gauge.value + metric.counter.value;
  }
  FAIL(name << " has no process " << process);
  return 0;
}

std::set<std::string> names(const prometheus::MetricFamily& family) {
  std::set<std::string> names;
  for (const auto& metric : family.metric) names.insert(metric.label.at(0).value);
  return names;
}

TEST_CASE("processes are named by their part, and one that replicas share is counted once") {
  PagesInMemory pages(2);
  pages.daemon.supervisor_pid.set(self());
  pages.daemon.front_end.pid.set(self());
  for (int id : {0, 1}) pages.daemon.replicas[static_cast<std::size_t>(id)].pid.set(self());
  const InstanceView view = pages.view();
  using Names = std::set<std::string>;
  CHECK(names(ProcessCollectable(pages.config, view).Collect()[1]) ==
        Names{"supervisor", "front-end", "replica-0", "replica-1"});
  pages.daemon.replicas[1].pid.set(0);
  CHECK(names(ProcessCollectable(pages.config, view).Collect()[1]) == Names{"supervisor", "front-end", "replica-0"});
  pages.config.isolation = Isolation::kThread;
  CHECK(names(ProcessCollectable(pages.config, view).Collect()[1]) == Names{"supervisor", "front-end", "replicas"});
}

TEST_CASE("a process's start time is that of the machine's clock, and the same in each scrape") {
  const auto now = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()); };
  PagesInMemory pages(1);
  pages.daemon.replicas[0].pid.set(0);
  pages.daemon.supervisor_pid.set(self());
  const ProcessCollectable collectable(pages.config, pages.view());
  const double first = value(collectable.Collect(), "ingot_process_start_time_seconds", "supervisor");
  CHECK(first < now().count() + 1);
  CHECK(first > now().count() - 24 * 3600);  // this test began today
  CHECK(value(collectable.Collect(), "ingot_process_start_time_seconds", "supervisor") == first);
}

// Regression: each front end computed the start from its own reading of two clocks, so that each restart of the front
// end looked like one of the supervisor.
TEST_CASE("the supervisor's start time is the one that it has noted") {
  PagesInMemory pages(0);
  pages.daemon.supervisor_pid.set(self());
  pages.daemon.supervisor_start_unix_ms.set(1'500'000'000'250);
  CHECK(value(ProcessCollectable(pages.config, pages.view()).Collect(), "ingot_process_start_time_seconds",
              "supervisor") == 1'500'000'000.25);
}

// Regression: another program's process that had got the pid of one that had ended was shown in its place.
TEST_CASE("a process that has the pid of one that ended is not shown") {
  PagesInMemory pages(0);
  const std::uint64_t started = read_process_usage(self())->start_ticks;
  const auto shown = [&](std::uint64_t start) {
    pages.daemon.front_end.pid.set(self());
    pages.daemon.front_end.started.set(start);
    return names(ProcessCollectable(pages.config, pages.view()).Collect()[1]).contains("front-end");
  };
  CHECK(shown(started));
  CHECK_FALSE(shown(started + 1));
}

// Regression: it was the front end's, so that etcdctl check datascale took the keys for next to nothing.
TEST_CASE("the resident memory by Prometheus's name is that of all processes, shared pages once") {
  PagesInMemory pages(1);
  pages.daemon.supervisor_pid.set(self());
  pages.daemon.replicas[0].pid.set(self());
  const auto families = ProcessCollectable(pages.config, pages.view()).Collect();
  const double one = value(families, "ingot_process_resident_memory_bytes", "supervisor");
  const double other = value(families, "ingot_process_resident_memory_bytes", "replica-0");
  const double all = family(families, "process_resident_memory_bytes").metric.at(0).gauge.value;
  CHECK(all > std::max(one, other));
  CHECK(all < one + other);
}

TEST_CASE("restarts are counted, also while the process is dead") {
  PagesInMemory pages(2);
  pages.daemon.front_end.incarnation.set(1);
  pages.set_incarnation(1, 5);
  pages.daemon.replicas[1].pid.set(0);
  const auto families = ProcessCollectable(pages.config, pages.view()).Collect();
  CHECK(value(families, "ingot_process_restarts_total", "front-end") == 0);
  CHECK(value(families, "ingot_process_restarts_total", "replica-0") == 0);
  CHECK(value(families, "ingot_process_restarts_total", "replica-1") == 4);
  CHECK(names(family(families, "ingot_process_restarts_total")) ==
        std::set<std::string>{"front-end", "replica-0", "replica-1"});
}

}  // namespace
}  // namespace ingot
