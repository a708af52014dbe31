// The kernel's table of open files is grown before connections come.
#include "services/launch/descriptor_table.h"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "services/launch/limits.h"

namespace ingot {
namespace {

// Descriptors for which this process's table has room.
rlim_t table_size() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("FDSize:")) return std::stoul(line.substr(7));
  }
  FAIL("the kernel does not say how large the table is");
  return 0;
}

TEST_CASE("the table of open files is grown once, before connections come, and not by steps that wait") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 2048);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  REQUIRE(table_size() < limit.rlim_cur);
  grow_descriptor_table();
  CHECK(table_size() >= limit.rlim_cur);
  CHECK(table_size() < 2 * limit.rlim_cur);  // no more than the limit lets be used
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  grow_descriptor_table();
  CHECK(table_size() >= std::min<rlim_t>(limit.rlim_max, kDescriptorTableMax));
  CHECK(table_size() <= kDescriptorTableMax);
}

}  // namespace
}  // namespace ingot
