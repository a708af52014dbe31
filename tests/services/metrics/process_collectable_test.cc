#include "replication/pages/instance_view.h"
#include "services/metrics/process_collectable.h"

#include <fcntl.h>
#include <unistd.h>

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

}  // namespace
}  // namespace ingot
