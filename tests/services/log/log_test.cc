// The log of a process whose standard error is a pipe: each case is a child of its own.
#include "services/log/log.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/check.h"
#include "tests/transport/host/child.h"
#include "transport/host/descriptor.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Matches;

struct Outcome {
  int exit = 0;  // as Child::wait() returns it
  std::vector<std::string> lines;
};

// Runs `body` in a child whose standard error is a pipe.
Outcome run(const std::function<void()>& body) {
  int fds[2];
  REQUIRE(::pipe(fds) == 0);
  const Descriptor out(fds[0]);
  Descriptor in(fds[1]);
  Child child([&] {
    ::signal(SIGABRT, SIG_DFL);  // Catch2's handler would report a failure
    ::dup2(in.get(), STDERR_FILENO);
    body();
    return 0;
  });
  Outcome outcome;
  outcome.exit = child.wait();
  in.reset();
  std::string all;
  char bytes[4096];
  for (ssize_t n = 0; (n = ::read(out.get(), bytes, sizeof bytes)) > 0;) all.append(bytes, static_cast<std::size_t>(n));
  outcome.lines = absl::StrSplit(all, '\n', absl::SkipEmpty());
  return outcome;
}

// In the child: leaves no room in standard error.
void fill() {
  const Descriptor own(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK));
  while (::write(own.get(), "-", 1) == 1) continue;
}

// In the child: reads all that is in standard error.
void drain() {
  const Descriptor own(::open("/proc/self/fd/2", O_RDONLY | O_NONBLOCK));
  char bytes[4096];
  while (::read(own.get(), bytes, sizeof bytes) > 0) continue;
}

void throw_away() { throw std::runtime_error("thrown away"); }

const std::string kTime = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z";

TEST_CASE("lines have time, level and process") {
  const Outcome outcome = run([] {
    log_info("before");
    start_log("replica-1", LogFormat::kText);
    log_info("one");
    log_warning("two");
    log_error("three");
    log_last("four");
  });
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.lines.size() == 5);
  CHECK_THAT(outcome.lines[0], Matches(kTime + " info ingotd: before"));
  CHECK_THAT(outcome.lines[1], Matches(kTime + " info replica-1: one"));
  CHECK_THAT(outcome.lines[2], Matches(kTime + " warning replica-1: two"));
  CHECK_THAT(outcome.lines[3], Matches(kTime + " error replica-1: three"));
  CHECK_THAT(outcome.lines[4], Matches(kTime + " error replica-1: four"));
}

TEST_CASE("lines below the threshold are not written, and errors always are") {
  const auto levels = [](LogThreshold threshold) {
    const Outcome outcome = run([threshold] {
      start_log("replica-1", LogFormat::kText, threshold);
      log_info("x");
      log_warning("x");
      log_last("x");
    });
    std::string seen;
    for (const std::string& line : outcome.lines) seen += line.substr(25, 1);
    return seen;
  };
  CHECK(levels(LogThreshold::kDebug) == "iwe");
  CHECK(levels(LogThreshold::kInfo) == "iwe");
  CHECK(levels(LogThreshold::kWarn) == "we");
  CHECK(levels(LogThreshold::kError) == "e");
}

TEST_CASE("a log that is not read loses lines, and says how many once it is read again") {
  const Outcome outcome = run([] {
    Counter shown;
    start_log("supervisor", LogFormat::kJson);
    const LostLinesShown on_page(shown);
    fill();
    for (int i = 0; i < 411; ++i) log_info("is lost");
    log_last("is lost after a while");
    INGOT_CHECK(log_lines_lost() == 412 && shown.get() == 412);
    drain();
    log_info("is read");
    log_info("nothing was lost");
  });
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.lines.size() == 3);
  const auto message = [&](std::size_t i) {
    return nlohmann::json::parse(outcome.lines[i]).at("message").get<std::string>();
  };
  CHECK(message(0) == "412 lines were lost: standard error did not take them");
  CHECK(message(1) == "is read");
  CHECK(message(2) == "nothing was lost");
}

TEST_CASE("before the log begins, what is printed to stderr goes out as it is") {
  const Outcome outcome = run([] {
    bound_stderr();
    std::fprintf(stderr, "ingotd: %s\n", "--flag is unknown");
    start_log("supervisor", LogFormat::kText);
    std::fprintf(stderr, "%s\n", "a library's");
  });
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.lines.size() == 2);
  CHECK(outcome.lines[0] == "ingotd: --flag is unknown");
  CHECK_THAT(outcome.lines[1], Matches(kTime + " error supervisor: a library's"));
}

// Regression: a program whose command line was wrong never ended.
TEST_CASE("before the log begins, stderr that is not read keeps no process from ending") {
  const std::string more_than_a_pipe_holds(100'000, 'x');
  CHECK(run([&] {
          bound_stderr();
          fill();
          std::fprintf(stderr, "ingotd: %s is unknown\n", more_than_a_pipe_holds.c_str());
        }).exit == 0);
  CHECK(run([&] {
          bound_stderr();
          std::fprintf(stderr, "ingotd: %s is unknown\n", more_than_a_pipe_holds.c_str());
        }).exit == 0);
}

// Regression: the counter began again with each process, and readers could not tell when.
TEST_CASE("lines that a process has lost are added to those of the process before it") {
  const Outcome outcome = run([] {
    Counter shown;
    shown.set(100);
    start_log("replica-1", LogFormat::kText);
    fill();
    log_info("is lost before it is shown");
    const LostLinesShown on_page(shown);
    INGOT_CHECK(shown.get() == 101);
    log_info("is lost");
    INGOT_CHECK(log_lines_lost() == 2 && shown.get() == 102);
  });
  CHECK(outcome.exit == 0);
}

// Regression: of two threads that lost a line at the same time, the one with the lower number could show it last. A
// counter that falls is one that began again, for Prometheus.
TEST_CASE("the number of lost lines never falls while several threads lose some") {
  const Outcome outcome = run([] {
    constexpr std::uint64_t kThreads = 4, kLines = 20'000;
    Counter shown;
    std::atomic<std::uint64_t> running{kThreads};
    start_log("replica-1", LogFormat::kText);
    const LostLinesShown on_page(shown);
    fill();
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t line = 0; line < kLines; ++line) log_info("is lost");
        --running;
      });
    }
    for (std::uint64_t last = 0; running > 0;) {
      const std::uint64_t now = shown.get();
      INGOT_CHECK(now >= last);
      last = now;
    }
    for (std::thread& thread : threads) thread.join();
    INGOT_CHECK(shown.get() == kThreads * kLines);
  });
  CHECK(outcome.exit == 0);
}

TEST_CASE("a failed check and an uncaught exception are lines of the log") {
  const auto check_said = [](const Outcome& outcome, const char* sentence) {
    CHECK(outcome.exit == -SIGABRT);
    REQUIRE(!outcome.lines.empty());
    CHECK_THAT(outcome.lines.back(), Contains(sentence));
    for (const std::string& line : outcome.lines) CHECK(nlohmann::json::parse(line).at("level") == "error");
  };
  const auto start = [] { start_log("replica-1", LogFormat::kJson); };
  check_said(run([&] {
               start();
               INGOT_CHECK(1 + 1 == 3, "arithmetic");
             }),
             "check failed: 1 + 1 == 3: arithmetic");
  check_said(run([&]() noexcept {
               start();
               throw_away();
             }),
             "thrown away");
}

TEST_CASE("a failed check and an uncaught exception end a process whose log is not read") {
  const auto start = [] {
    start_log("replica-1", LogFormat::kText);
    fill();
  };
  CHECK(run([&] {
          start();
          INGOT_CHECK(1 + 1 == 3);
        }).exit == -SIGABRT);
  CHECK(run([&]() noexcept {
          start();
          throw_away();
        }).exit == -SIGABRT);
}

TEST_CASE("logged() takes the sentence out of an outcome that it has said") {
  const Outcome outcome = run([] {
    start_log("supervisor", LogFormat::kText);
    const absl::Status failed = logged(absl::UnavailableError("it is gone"));
    INGOT_CHECK(absl::IsUnavailable(failed) && failed.message().empty());
    INGOT_CHECK(logged(absl::OkStatus()).ok());
  });
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.lines.size() == 1);
  CHECK_THAT(outcome.lines[0], Contains("error supervisor: it is gone"));
}

}  // namespace
}  // namespace ingot
