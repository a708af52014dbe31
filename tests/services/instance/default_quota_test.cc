// The default quota: limits are read from a made-up tree of control groups, and what they give is computed.
#include "services/instance/default_quota.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ingot {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr std::uint64_t kGiB = 1024 * kMiB;

// A folder that stands for "/".
class Machine {
 public:
  explicit Machine(const std::string& name) : root_(std::string(std::getenv("TEST_TMPDIR")) + "/" + name) {
    write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
  }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::uint64_t limit() const { return memory_limit_bytes(root_); }

 private:
  const std::string root_;
};

const char* const kMounts1 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
const char* const kMounts2 = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST_CASE("without control groups the machine's memory is the limit") {
  const Machine machine("none");
  CHECK(machine.limit() == 16 * kGiB);
  CHECK(memory_limit_bytes("/no/such/folder") == 0);
}

TEST_CASE("of version 2 the least of the group's limits and of those above it counts") {
  const Machine machine("v2");
  machine.write("/proc/self/mountinfo", kMounts2);
  machine.write("/proc/self/cgroup", "0::/system.slice/ingot.service\n");
  machine.write("/sys/fs/cgroup/system.slice/ingot.service/memory.max", "max\n");
  CHECK(machine.limit() == 16 * kGiB);
  machine.write("/sys/fs/cgroup/system.slice/memory.max", std::to_string(3 * kGiB) + "\n");
  CHECK(machine.limit() == 3 * kGiB);
  machine.write("/sys/fs/cgroup/system.slice/ingot.service/memory.high", std::to_string(2 * kGiB) + "\n");
  CHECK(machine.limit() == 2 * kGiB);  // beyond it the kernel slows processes down
  machine.write("/sys/fs/cgroup/memory.max", std::to_string(kGiB) + "\n");
  CHECK(machine.limit() == kGiB);
}

TEST_CASE("of version 1 the memory controller's hierarchy counts, and a limit above the machine's memory is none") {
  const Machine machine("v1");
  machine.write("/proc/self/mountinfo", kMounts1);
  machine.write("/proc/self/cgroup", "4:memory:/a/b\n2:cpu,cpuacct:/other\n0::/a\n");
  machine.write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("/sys/fs/cgroup/cpu/other/memory.limit_in_bytes", "1\n");
  CHECK(machine.limit() == 16 * kGiB);
  machine.write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", std::to_string(5 * kGiB) + "\n");
  CHECK(machine.limit() == 5 * kGiB);
}

TEST_CASE("a container sees its own group as the first") {
  const Machine machine("container");
  machine.write("/proc/self/mountinfo",
                "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime master:9 - cgroup cgroup rw,memory\n");
  machine.write("/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  machine.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(4 * kGiB));
  CHECK(machine.limit() == 4 * kGiB);
  machine.write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", std::to_string(kGiB));
  CHECK(machine.limit() == kGiB);
  machine.write("/proc/self/cgroup", "4:memory:/../elsewhere\n");
  CHECK(machine.limit() == 4 * kGiB);
}

TEST_CASE("texts that are no limits limit nothing") {
  const Machine machine("nonsense");
  machine.write("/proc/self/mountinfo", std::string("\n1 2 - \n - cgroup2\n") + kMounts2);
  machine.write("/proc/self/cgroup", "0\n::\n0::\n");
  machine.write("/sys/fs/cgroup/memory.max", "-1\n");
  CHECK(machine.limit() == 16 * kGiB);
  machine.write("/proc/self/cgroup", "0::/\n");
  machine.write("/sys/fs/cgroup/memory.max", "");
  CHECK(machine.limit() == 16 * kGiB);
}

TEST_CASE("the default leaves room for one more copy than replicas, for snapshots, and for what else there is") {
  DaemonConfig config;
  config.replicas = 3;
  config.kept_segments_mib = 1024;
  const auto quota = [&](std::uint64_t bytes) { return static_cast<std::uint64_t>(default_quota_bytes(bytes, config)); };
  // 0.9 x 16 GiB less 3 x (256 + 64) + 1024 + 256 MiB, through 1.3 x 4 + 3.
  CHECK(quota(16 * kGiB) / kMiB == 1525);
  CHECK(quota(kGiB) / kMiB == 56);  // what is fixed takes at most half
  CHECK(quota(0) == 16 * kMiB);
  CHECK(quota(64 * 1024 * kGiB) == 32 * kGiB);
  std::uint64_t before = 0;
  for (std::uint64_t bytes = kGiB; bytes < 512 * kGiB; bytes += kGiB) {
    CHECK(quota(bytes) >= before);
    before = quota(bytes);
  }
  config.replicas = 48;
  CHECK(quota(16 * kGiB) < 1525 * kMiB / 8);
}

}  // namespace
}  // namespace ingot
