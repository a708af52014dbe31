// Whether each of some rules is needed: without it, one of many seeds must fail.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "core/rule.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"

namespace ingot::test {

inline constexpr std::uint64_t kLeftOutSeedsMax = 20'000;  // for a rule; then it counts as not needed

// What a child tells of its seeds, in memory that it shares with the test.
class SeedsTold {
 public:
  SeedsTold()
      : told_(static_cast<Told*>(
            ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(told_ != MAP_FAILED);
  }
  ~SeedsTold() { ::munmap(told_, sizeof(Told)); }
  SeedsTold(const SeedsTold&) = delete;
  SeedsTold& operator=(const SeedsTold&) = delete;

  std::uint64_t& seeds() { return told_->seeds; }
  void failed(const std::string& why) { std::snprintf(told_->failure, sizeof told_->failure, "%s", why.c_str()); }
  std::string failure() const { return told_->failure; }

 private:
  struct Told {
    std::uint64_t seeds;
    char failure[200];
  };
  Told* told_;
};

// `run(seed)` returns what was found wrong, or nothing. Each rule has a child process: without the rule the code may
// fail a check of its own, which aborts and counts as found.
template <typename Run>
void check_rules_are_needed(std::span<const std::string_view> rules, const Run& run) {
  const std::uint64_t first = testing::drawn_seed();
  for (const std::string_view rule : rules) {
    SeedsTold told;
    std::fflush(nullptr);
    const int ended = Child([&] {
                        ::signal(SIGABRT, SIG_DFL);
                        left_out = rule;
                        std::string failure;
                        while (failure.empty() && told.seeds() < kLeftOutSeedsMax) {
                          failure = run(first + told.seeds()++);
                        }
                        told.failed(failure);
                        return failure.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
                      }).wait();
    if (ended == -SIGABRT) told.failed("a check of the code");
    INFO(rule << ", from seed " << first);
    CHECK((ended == EXIT_SUCCESS || ended == -SIGABRT));
    std::printf("%-20s %5d seeds: %.90s\n", std::string(rule).c_str(), static_cast<int>(told.seeds()),
                told.failure().c_str());
  }
}

}  // namespace ingot::test
