// Regression: without room for one more thread a process ended by "terminate called", or by an assertion of gRPC.
#include "services/launch/tasks.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <stdexcept>
#include <thread>

namespace ingot {
namespace {

struct Ended {
  std::string error;  // its standard error
  int wait_status = 0;
};

// Runs `body` in a child process that may have no further threads or processes, and ends at its exceptions.
Ended without_room(const std::function<int()>& body) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    const rlimit none{1, 1};
    constexpr uid_t kOtherUser = 61'235;  // root has no limit
    if (::setrlimit(RLIMIT_NPROC, &none) != 0 || (::geteuid() == 0 && ::setuid(kOtherUser) != 0)) ::_exit(99);
    try {
      ::_exit(body());
    } catch (...) {
      std::terminate();  // as the runtime does where no handler is found; here Catch's would be
    }
  }
  ::close(ends[1]);
  Ended ended;
  char block[512];
  for (ssize_t bytes = 0; (bytes = ::read(ends[0], block, sizeof block)) > 0;) ended.error.append(block, bytes);
  ::close(ends[0]);
  REQUIRE(::waitpid(child, &ended.wait_status, 0) == child);
  return ended;
}

int fail() { throw std::runtime_error("the reason"); }

TEST_CASE("there is room for some threads here") {
  CHECK(check_room_for_tasks(0).ok());
  CHECK(check_room_for_tasks(20).ok());
}

TEST_CASE("a lack of room for threads is said in one sentence") {
  const Ended ended = without_room([] {
    const absl::Status status = check_room_for_tasks(3);
    std::fprintf(stderr, "%s", std::string(status.message()).c_str());
    return absl::IsFailedPrecondition(status) ? 7 : 8;
  });
  CHECK(WEXITSTATUS(ended.wait_status) == 7);
  CHECK_THAT(ended.error, Catch::StartsWith("there must be room for 3 more threads and processes, and there is room "
                                            "for 0 ("));
  CHECK_THAT(ended.error, Catch::Contains("ulimit -u"));
}

TEST_CASE("a process that cannot start a thread says so and exits with 1") {
  const Ended ended = without_room([] {
    explain_terminate("a process of this test");
    std::thread([] {}).join();
    return 0;
  });
  CHECK(WIFEXITED(ended.wait_status));
  CHECK(WEXITSTATUS(ended.wait_status) == 1);
  CHECK_THAT(ended.error, Catch::StartsWith("ingotd: a process of this test (pid ") &&
                              Catch::Contains(") ends: a thread cannot be started; raise the limit of processes"));
  CHECK(std::count(ended.error.begin(), ended.error.end(), '\n') == 1);
}

TEST_CASE("another exception is said, too, and aborts") {
  const Ended ended = without_room([] {
    explain_terminate("a process of this test");
    return fail();
  });
  CHECK(WIFSIGNALED(ended.wait_status));
  CHECK(WTERMSIG(ended.wait_status) == SIGABRT);
  CHECK_THAT(ended.error, Catch::Contains("ends: the reason"));
}

}  // namespace
}  // namespace ingot
