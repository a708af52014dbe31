// Regression: ingotd said "serving" without the descriptors to answer, and ended by a signal at a limit of file sizes.
#include "services/instance/resource_limits.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

namespace ingot {
namespace {

// The error of check_limits() in a child process with this limit.
std::string refused(int resource, rlim_t limit, const DaemonConfig& config) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit both{limit, limit};
    if (::setrlimit(resource, &both) != 0) ::_exit(99);
    raise_limits();
    const absl::Status status = check_limits(config);
    const std::string text(status.message());
    ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    (status.ok() || absl::IsFailedPrecondition(status))
                ? 0
                : 98);
  }
  ::close(ends[1]);
  std::string text;
  char block[512];
  for (ssize_t bytes = 0; (bytes = ::read(ends[0], block, sizeof block)) > 0;) text.append(block, bytes);
  ::close(ends[0]);
  int wait_status = 0;
  REQUIRE(::waitpid(child, &wait_status, 0) == child);
  REQUIRE(wait_status == 0);
  return text;
}

TEST_CASE("the open files that an instance needs grow with its replicas, and 1024 suffice for the largest") {
  DaemonConfig small, large, chip;
  small.replicas = 1;
  large.replicas = kReplicasMax;
  chip.backend = Backend::kScc;
  CHECK(descriptors_needed(chip) < descriptors_needed(small));
  CHECK(descriptors_needed(small) < descriptors_needed(large));
  CHECK(descriptors_needed(large) <= 1024);
}

TEST_CASE("too few open files are refused with the number that is needed") {
  const DaemonConfig config;
  const int needed = descriptors_needed(config);
  CHECK(refused(RLIMIT_NOFILE, static_cast<rlim_t>(needed), config) == "");
  CHECK(refused(RLIMIT_NOFILE, static_cast<rlim_t>(needed) - 1, config) ==
        "the number of open files that --replicas=3 needs is " + std::to_string(needed) + ", and the limit is " +
            std::to_string(needed - 1) + "; raise it (ulimit -n, or LimitNOFILE= of a service)");
}

TEST_CASE("a limit of file sizes is refused") {
  CHECK(refused(RLIMIT_FSIZE, RLIM_INFINITY, {}) == "");
  CHECK_THAT(refused(RLIMIT_FSIZE, 1 << 20, {}),
             Catch::StartsWith("the size of a file of shared memory, in bytes, may reach ") &&
                 Catch::Contains("the limit is 1048576; raise it (ulimit -f unlimited"));
}

TEST_CASE("a soft limit is raised to the hard one") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low{32, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  raise_limits();
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
}

}  // namespace
}  // namespace ingot
