#include "services/ingotd/flags.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "services/config/daemon_settings.h"
#include "services/config/scc_settings.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

// The settings of a command line, or its error.
struct Parsed {
  DaemonConfig config;
  SccConfig scc;
  std::string refused;
};

Parsed parse(std::vector<const char*> words) {
  Parsed parsed;
  CLI::App app;
  add_flags(app, parsed.config, parsed.scc);
  words.insert(words.begin(), "ingotd");
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    parsed.refused = error.what();
    return parsed;
  }
  parsed.refused = std::string(settle_flags(app, parsed.config, parsed.scc).message());
  return parsed;
}

TEST_CASE("--help is the text in help.txt") {
  CLI::App app;
  DaemonConfig config;
  SccConfig scc;
  add_flags(app, config, scc);
  std::stringstream expected;
  expected << std::ifstream("tests/services/ingotd/help.txt").rdbuf();
  CHECK(app.help() == expected.str());
}

TEST_CASE("without flags the settings have their defaults") {
  const Parsed parsed = parse({});
  CHECK(parsed.refused == "");
  visit_settings(parsed.config, [&](const auto& setting) { CHECK(parsed.config.*setting.member == setting.initial); });
  visit_settings(parsed.scc, [&](const auto& setting) { CHECK(parsed.scc.*setting.member == setting.initial); });
}

TEST_CASE("flags of every type set their settings") {
  const Parsed host = parse({"--replicas=5", "--agreement=2pc", "--fence", "--isolation=thread", "--tree=star",
                             "--listen=[::1]:0", "--metrics-listen", "h:1", "--orphan-grace=1m30s"});
  CHECK(host.refused == "");
  CHECK(host.config.replicas == 5);
  CHECK(host.config.agreement == AgreementKind::kTwoPhaseCommit);
  CHECK(host.config.fence);
  CHECK(host.config.isolation == Isolation::kThread);
  CHECK(host.config.tree == "star");
  CHECK(host.config.listen == "[::1]:0");
  CHECK(host.config.metrics_listen == "h:1");
  CHECK(host.config.orphan_grace_ms == 90'000);
  CHECK(parse({"--orphan-grace=1us"}).config.orphan_grace_ms == 1);  // rounded up: 0 has a meaning of its own

  const Parsed chip = parse({"--backend=scc", "--transport=srbp", "--scc-cores=3,1,2,5", "--scc-gateway=47",
                             "--scc-clocks=800/1600/1066", "--scc-cost-model=wgr", "--scc-seed=18446744073709551615",
                             "--scc-cycles-per-message=0", "--scc-record=r"});
  CHECK(chip.refused == "");
  CHECK(chip.config.transport == TransportKind::kSrbp);
  CHECK(chip.scc.cores == std::vector<int>{3, 1, 2, 5});
  CHECK(chip.config.replicas == 4);  // one for each core
  CHECK(chip.scc.gateway == 47);
  CHECK(chip.scc.clocks == "800/1600/1066");
  CHECK(chip.scc.cost_model == scc::CostModel::kWgr);
  CHECK(chip.scc.seed == ~std::uint64_t{0});
  CHECK(chip.scc.cycles_per_message == 0);
  CHECK(chip.scc.record == "r");
}

TEST_CASE("the environment sets what no flag does, except what is for one run") {
  ::setenv("INGOT_METRICS_LISTEN", "h:2", 1);
  ::setenv("INGOT_VOTERS", "2", 1);
  ::setenv("INGOT_FENCE", "true", 1);
  ::setenv("INGOT_SCC_REPLAY", "r", 1);
  const Parsed parsed = parse({"--voters=1"});
  CHECK(parsed.config.metrics_listen == "h:2");
  CHECK(parsed.config.voters == 1);
  CHECK(parsed.config.fence);
  CHECK(parsed.scc.replay == "");
  ::setenv("INGOT_SCC_SEED", "3", 1);
  CHECK(parse({}).refused == "--scc-seed is for the simulated chip; give --backend=scc, too");
  for (const char* name :
       {"INGOT_METRICS_LISTEN", "INGOT_VOTERS", "INGOT_FENCE", "INGOT_SCC_REPLAY", "INGOT_SCC_SEED"}) {
    ::unsetenv(name);
  }
}

TEST_CASE("an empty INGOT_METRICS_LISTEN opened the default port: a variable counts as its flag, an empty one, too") {
  CHECK(parse({}).config.metrics_listen == "127.0.0.1:9464");
  CHECK(parse({"--metrics-listen", ""}).config.metrics_listen == "");
  ::setenv("INGOT_METRICS_LISTEN", "", 1);
  ::setenv("INGOT_NAME", "", 1);
  const Parsed none = parse({});
  CHECK(none.refused == "");
  CHECK(none.config.metrics_listen == "");
  CHECK(none.config.name == "");
  CHECK(parse({"--metrics-listen=h:1"}).config.metrics_listen == "h:1");
  ::unsetenv("INGOT_NAME");
  ::unsetenv("INGOT_METRICS_LISTEN");

  struct Case {
    const char* name;
    const char* sentence;
  };
  const Case cases[] = {
      {"INGOT_LISTEN", "INGOT_LISTEN: '' is not an address; write HOST:PORT, as in 127.0.0.1:2379"},
      {"INGOT_REPLICAS", "INGOT_REPLICAS: '' will not do; give a whole number, 1 to 48"},
      {"INGOT_AGREEMENT", "INGOT_AGREEMENT: '' is not known here; use 1paxos, multipaxos or 2pc"},
      {"INGOT_FENCE", "INGOT_FENCE: '' is not known here; use on or off"},
      {"INGOT_SCC_SEED", "INGOT_SCC_SEED: '' will not do; give a whole number, 0 or more"},
  };
  for (const Case& each : cases) {
    ::setenv(each.name, "", 1);
    CHECK(parse({}).refused == each.sentence);
    ::unsetenv(each.name);
  }
}

TEST_CASE("what a flag does not take is refused with a sentence") {
  struct Case {
    std::vector<const char*> words;
    const char* sentence;
  };
  const Case cases[] = {
      {{"--agreement=raft"}, "--agreement: 'raft' is not known here; use 1paxos, multipaxos or 2pc"},
      {{"--isolation=core"}, "--isolation: 'core' is not known here; use process or thread"},
      {{"--listen=abc"}, "--listen: 'abc' is not an address; write HOST:PORT, as in 127.0.0.1:2379"},
      {{"--orphan-grace=3"}, "--orphan-grace: '3' is not a duration; write a number with its unit, as in 250ms or 20s"},
      {{"--etcd-version=banana"}, "--etcd-version: 'banana' is not a version; write three numbers, as in 3.6.0"},
      {{"--etcd-version=3.4"}, "--etcd-version: '3.4' is not a version; write three numbers, as in 3.6.0"},
      {{"--name=a\nb"},
       "--name: 'a\nb' will not do; give a name of letters, digits and other printable characters, without '/'"},
      {{"--name=a/b"},
       "--name: 'a/b' will not do; give a name of letters, digits and other printable characters, without '/'"},
      {{"--name=\xff"},
       "--name: '\xff' will not do; give a name of letters, digits and other printable characters, without '/'"},
      {{"--scc-gateway=-1"}, "--scc-gateway: '-1' will not do; give a whole number, 0 to 47"},
      {{"--scc-clocks=9999/800/800"},
       "--scc-clocks: the core clock cannot run at 9999 MHz: 100 to 1000 MHz are possible"},
      {{"--scc-cost-model=exact"}, "--scc-cost-model: 'exact' is not known here; use logp or wgr"},
      {{"--scc-cycles-per-message=1000000001"},
       "--scc-cycles-per-message: '1000000001' will not do; give a whole number, 0 to 1000000000"},
      {{"--scc-record=a", "--scc-replay=b"}, "--scc-record excludes --scc-replay"},
      {{"--scc-seed=3", "--scc-cores=1"}, "--scc-cores is for the simulated chip; give --backend=scc, too"},
      {{"--backend=scc", "--machine=x"},
       "--machine is for this machine's cores, not for the simulated chip's; leave it out, or choose cores by "
       "--scc-cores"},
      {{"--backend=scc", "--isolation=process"},
       "--isolation is for this machine's cores, not for the simulated chip's; leave it out, or choose cores by "
       "--scc-cores"},
      {{"--restore", ""}, "--restore names no file; give the path of a snapshot, or leave it out"},
      {{"--bump-revision=5", "--mark-compacted"},
       "--bump-revision and --mark-compacted say how a snapshot is restored; give --restore=FILE, too"},
  };
  for (const Case& each : cases) CHECK(parse(each.words).refused == each.sentence);
  CHECK_THAT(parse({"--replicas=three"}).refused, Contains("--replicas"));
}

TEST_CASE("a restore is a plain one, or bumps revisions and marks what it skips") {
  CHECK(parse({"--restore=a"}).refused == "");
  const Parsed bumped = parse({"--restore=a", "--bump-revision=5", "--mark-compacted"});
  CHECK(bumped.refused == "");
  CHECK(bumped.config.restore == "a");
  CHECK(bumped.config.bump_revision == 5);
  CHECK(bumped.config.mark_compacted);
  CHECK_THAT(parse({"--restore=a", "--bump-revision=5"}).refused, Contains("go together"));
  CHECK_THAT(parse({"--restore=a", "--mark-compacted"}).refused, Contains("go together"));
  CHECK_THAT(parse({"--restore=a", "--bump-revision=-1"}).refused, Contains("--bump-revision"));
}

}  // namespace
}  // namespace ingot
