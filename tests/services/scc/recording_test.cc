#include "services/scc/recording.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/stable_hash.h"
#include "services/config/daemon_settings.h"
#include "services/config/scc_settings.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

std::string path_of(const char* name) { return absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name); }

nlohmann::json head_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return nlohmann::json::parse(line.substr(0, line.rfind(' ')));
}

// A recording that consists of this head only.
absl::StatusOr<Recording> read_with(const nlohmann::json& head) {
  const std::string path = path_of("changed.rec"), object = head.dump();
  std::ofstream(path) << absl::StrFormat("%s %016x\n", object, hash_bytes(object, 0));
  return read_recording(path);
}

DaemonConfig played() {
  DaemonConfig config;
  config.agreement = AgreementKind::kTwoPhaseCommit;
  config.transport = TransportKind::kSrbp;
  config.tree = "star";
  config.replicas = 4;
  config.voters = 2;
  config.fence = true;
  config.quota_backend_bytes = 123'456;
  return config;
}

SccConfig chip() {
  SccConfig scc;
  scc.cores = {0, 12, 24, 36};
  scc.gateway = 7;
  scc.clocks = "800/1600/1066";
  scc.cost_model = scc::CostModel::kWgr;
  scc.seed = ~std::uint64_t{0};
  scc.cycles_per_message = 0;
  return scc;
}

TEST_CASE("a recording's head holds what decides the course of a run, and gives it back") {
  const std::string path = path_of("whole.rec");
  { REQUIRE(RecordingWriter::create(path, played(), chip()).ok()); }
  std::set<std::string> keys;
  const nlohmann::json head = head_of(path);
  for (const auto& [key, value] : head.items()) keys.insert(key);
  CHECK(keys == std::set<std::string>{"record", "version", "agreement", "transport", "tree", "replicas", "voters",
                                      "fence", "quota_backend_bytes", "cores", "gateway", "clocks", "cost_model",
                                      "seed", "cycles_per_message"});
  const auto read = read_recording(path);
  REQUIRE(read.ok());
  visit_settings(played(), [&](const auto& setting) {
    if (setting.has(settings::kRecorded)) CHECK(read->config.*setting.member == played().*setting.member);
  });
  visit_settings(chip(), [&](const auto& setting) {
    if (setting.has(settings::kRecorded)) CHECK(read->scc.*setting.member == chip().*setting.member);
  });
  CHECK(read->config.backend == Backend::kScc);
}

TEST_CASE("a head from before the table of settings is read, whatever the order of its keys") {
  const auto read = read_with(nlohmann::json::parse(
      R"({"record":"ingot-scc","version":1,"agreement":"multipaxos","transport":"nvp","tree":"best","replicas":3,)"
      R"("voters":3,"fence":false,"cores":[],"gateway":-1,"clocks":"533/800/800","cost_model":"logp","seed":5,)"
      R"("cycles_per_message":2000})"));
  REQUIRE(read.ok());
  CHECK(read->config.agreement == AgreementKind::kMultiPaxos);
  CHECK(read->scc.gateway == -1);  // placement's choice
  CHECK(read->scc.seed == 5);
  CHECK(read->config.quota_backend_bytes == 0);  // recorded before there was a quota: none
}

TEST_CASE("a head with a value that no flag takes, or without a setting, is refused") {
  const std::string path = path_of("good.rec");
  { REQUIRE(RecordingWriter::create(path, played(), chip()).ok()); }
  const nlohmann::json good = head_of(path);
  REQUIRE(read_with(good).ok());
  const nlohmann::json wrong[] = {{{"agreement", "raft"}}, {{"transport", "mpi"}},
                                  {{"tree", "bonsai"}},    {{"cost_model", "exact"}},
                                  {{"replicas", 48}},      {{"clocks", "1/2"}},
                                  {{"voters", 5}},         {{"voters", 0}},
                                  {{"gateway", 48}},       {{"gateway", -2}},
                                  {{"replicas", 0}},       {{"cycles_per_message", 1000000001}}};
  for (const nlohmann::json& change : wrong) {
    nlohmann::json head = good;
    head.update(change);
    CAPTURE(change.dump());
    CHECK_THAT(std::string(read_with(head).status().message()), Contains("its flags are none that ingotd takes"));
  }
  for (const char* key : {"agreement", "replicas", "cores", "seed"}) {
    nlohmann::json head = good;
    head.erase(key);
    CHECK_THAT(std::string(read_with(head).status().message()), Contains("is damaged at line 1"));
    head[key] = nullptr;
    CHECK_THAT(std::string(read_with(head).status().message()), Contains("is damaged at line 1"));
  }
}

}  // namespace
}  // namespace ingot
