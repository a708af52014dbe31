#include "services/replica_process/deferred_reaper.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/transport/host/child.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// The child of a process that has one thread and at most one child; 0: it has none.
pid_t child_of(pid_t parent) {
  pid_t child = 0;
  std::ifstream("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children") >> child;
  return child;
}

bool alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.find_first_of("ZX", name_end) != name_end + 2;
}

std::string name_of(pid_t pid) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
  return name;
}

template <typename Condition>
void wait_until(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int descriptors_of(pid_t pid) {
  int count = 0;
  std::error_code gone;
  for (const auto& each : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    (void)each;
    ++count;
  }
  return count;
}

TEST_CASE("a deferred reaper keeps no descriptor of its parent but the pidfd, and ends after the parent") {
  Child parent([] {
    const DeferredReaper reaper;
    while (true) ::pause();
    return 0;
  });
  pid_t reaper = 0;
  wait_until([&] { return (reaper = child_of(parent.pid())) != 0; });
  wait_until([&] { return descriptors_of(reaper) == 1; });
  CHECK(name_of(reaper) == kDeferredReaperName);
  CHECK(alive(reaper));
  parent.kill();
  CHECK(parent.wait() == -SIGKILL);
  wait_until([&] { return !alive(reaper); });
}

TEST_CASE("a parent that ends in order leaves no deferred reaper behind") {
  Child parent([] {
    pid_t pid = 0;
    {
      const DeferredReaper reaper;
      pid = child_of(::getpid());
      if (pid == 0) return 1;
    }
    return child_of(::getpid()) == 0 && !alive(pid) ? 0 : 2;
  });
  CHECK(parent.wait() == 0);
}

TEST_CASE("SIGTERM and SIGINT do not end a deferred reaper, and killing it does not harm its parent") {
  Child parent([] {
    ::signal(SIGTERM, SIG_DFL);
    const DeferredReaper reaper;
    const pid_t pid = child_of(::getpid());
    ::kill(pid, SIGTERM);
    ::kill(pid, SIGINT);
    if (!alive(pid)) return 1;
    ::kill(pid, SIGKILL);
    wait_until([&] { return !alive(pid); });
    return 0;
  });
  CHECK(parent.wait() == 0);
}

}  // namespace
}  // namespace ingot
