// ingot-load's interface to scripts: its output and its exit codes.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/services/ingot_load/test_store.h"

namespace ingot::load {
namespace {

struct Ran {
  int exit_code = -1;
  std::string output;
};

// Captures standard output, or standard error if `stream` names it.
Ran run(const std::string& flags, const std::string& stream = "2>/dev/null") {
  const std::string command = "services/ingot_load/ingot-load " + flags + " " + stream;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Ran ran;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) ran.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

Ran complaint(const std::string& flags) { return run(flags, "2>&1 >/dev/null"); }

TEST_CASE("a check that holds exits with 0, one that does not with 1") {
  TestStore store;
  const std::string flags = "--endpoint=" + store.endpoint() + " --count=1000 --keys=20 --timeout=100s --check -o json";
  const Ran good = run(flags);
  CHECK(good.exit_code == 0);
  CHECK(nlohmann::json::parse(good.output)["lost"] == 0);

  store.set_faults({.lose_every = 1});
  const Ran bad = run(flags);
  CHECK(bad.exit_code == 1);
  CHECK(nlohmann::json::parse(bad.output)["lost"] > 0);

  store.set_faults({.refuse_every = 1});
  CHECK(run(flags).exit_code == 1);
}

TEST_CASE("a duration, a rate and a table") {
  TestStore store;
  const Ran ran =
      run("--endpoint=" + store.endpoint() +
          " --timeout=100s --duration=500ms --rate=100 --read-share=0.2 --distribution=zipf --read-kind=serializable");
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.find("reads (serializable)") != std::string::npos);
  CHECK(ran.output.find("p99.9") == std::string::npos);  // the table's titles are in capitals
  CHECK(ran.output.find("P99.9") != std::string::npos);
  CHECK(ran.output.find("no errors") != std::string::npos);
}

TEST_CASE("progress goes to standard error") {
  TestStore store;
  const Ran ran = complaint("--endpoint=" + store.endpoint() + " --timeout=100s --duration=4s --clients=1");
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.find("errors 0") != std::string::npos);
}

TEST_CASE("bad flags are one sentence that names the flag, and exit code 2") {
  const struct {
    const char* flags;
    const char* names;
  } cases[] = {
      {"--clients=0", "--clients must be from 1 to 4096"},
      {"--clients=many", "--clients"},
      {"--keys=-1", "--keys must be from 1"},
      {"--read-share=1.5", "--read-share must be from 0 to 1"},
      {"--read-kind=dirty", "serializable, linearizable or view"},
      {"--distribution=normal", "uniform or zipf"},
      {"--duration=20", "--duration"},
      {"--duration=0s", "--duration must be longer than 0"},
      {"--duration=5s --count=3", "--duration"},
      {"--connections=9 --clients=8", "--connections must not be more than --clients"},
      {"--threads=2", "--threads must not be more than --connections"},
      {"--rate=-5", "--rate must be from 0"},
      {"--target-p99=5", "--target-p99"},
      {"--target-p99=0s", "--target-p99 must be longer than 0"},
      {"--target-p99=5ms --rate=100", "--rate"},
      {"--target-p99=5ms --count=100", "--count"},
      {"--target-p99=5ms --check", "--check"},
      {"--timeout=1us", "--timeout must be from 1ms"},
      {"--value-bytes=2000000", "--value-bytes must be from 0 to 1048576"},
      {"--check --read-share=1", "--read-share below 1"},
      {"--check --value-bytes=10", "--value-bytes of at least 44"},
      {"--endpoint=nowhere", "nowhere"},
      {"--output=xml", "table or json"},
      {"--watchers=-1", "--watchers must be from 0 to 100000"},
      {"--leases=1000000", "--leases must be from 0 to 200000"},
      {"--lease-ttl=1s", "--lease-ttl must be from 5s to 3600s, in whole seconds"},
      {"--target-p99=5ms --watchers=1", "--watchers"},
      {"--no-such-flag", "--no-such-flag"},
      {"surplus", "surplus"},
  };
  for (const auto& [flags, names] : cases) {
    INFO(flags);
    const Ran ran = complaint(flags);
    INFO(ran.output);
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.find(names) != std::string::npos);
    CHECK(std::count(ran.output.begin(), ran.output.end(), '\n') == 1);
    CHECK(run(flags).output.empty());
  }
}

TEST_CASE("a search for a rate exits with 0 if one keeps the target, and with 1 if none does") {
  TestStore store;
  const std::string flags = "--endpoint=" + store.endpoint() + " --timeout=100s --duration=300ms --clients=256";
  const Ran found = run(flags + " --target-p99=1h -o json");
  CHECK(found.exit_code == 0);
  const auto report = nlohmann::ordered_json::parse(found.output);
  CHECK(report.begin().key() == "target_p99_us");
  CHECK(report["held"] == true);
  CHECK(report["rate_per_s"] > 0);
  CHECK(report["steps"].size() >= 3);

  const Ran none = run(flags + " --target-p99=1ns", "2>&1");
  CHECK(none.exit_code == 1);
  CHECK(none.output.find("no rate kept a 99th percentile of 1ns: even the lowest") != std::string::npos);
  CHECK(none.output.find("step 1: closed loop: p99 ") == 0);
  CHECK(none.output.find(": missed\n") != std::string::npos);
}

TEST_CASE("INGOT_ENDPOINT names the server, and --endpoint goes before it") {
  TestStore store;
  ::setenv("INGOT_ENDPOINT", store.endpoint().c_str(), 1);
  const Ran found = run("--count=10 --timeout=100s -o json");
  ::setenv("INGOT_ENDPOINT", "127.0.0.1:1", 1);
  const Ran flag = run("--count=10 --timeout=100s -o json --endpoint=" + store.endpoint());
  const Ran missing = complaint("--count=10 --timeout=100ms");
  ::setenv("INGOT_ENDPOINT", "nowhere", 1);
  const Ran wrong = complaint("--count=10");
  ::unsetenv("INGOT_ENDPOINT");
  CHECK(found.exit_code == 0);
  CHECK(flag.exit_code == 0);
  CHECK(missing.exit_code == 1);
  CHECK(missing.output.find("nothing answers on 127.0.0.1:1") != std::string::npos);
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.output.find("'nowhere' is not an address") != std::string::npos);
}

TEST_CASE("a missing server gives exit code 1") {
  const Ran ran = complaint("--endpoint=127.0.0.1:1 --timeout=100ms");
  CHECK(ran.exit_code == 1);
  CHECK(ran.output.find("nothing answers on 127.0.0.1:1") != std::string::npos);
}

}  // namespace
}  // namespace ingot::load
