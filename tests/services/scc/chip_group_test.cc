// Groups on the simulated chip without a daemon: requests, replies, stopped and killed cores, and replays from the same
// inputs.
#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <utility>

#include "core/check.h"
#include "core/enum_names.h"
#include "replication/store/api.h"
#include "services/scc/chip_group.h"
#include "services/scc/recording.h"
#include "services/scc/replay.h"

namespace ingot {
namespace {

using Progress = ChipGroup::Progress;

// Runs a group and records its inputs, as the daemon does.
class Session {
 public:
  Session(const DaemonConfig& config, const SccConfig& scc) {
    recording_.config = config;
    recording_.scc = scc;
    auto group = ChipGroup::create(config, scc);
    INFO(group.status());
    REQUIRE(group.ok());
    group_ = *std::move(group);
  }

  void inject(ChipInput input) {
    recording_.inputs.push_back({group_->rounds(), group_->boundary_ps(), input});
    REQUIRE(group_->inject(std::move(input)).ok());
  }
  void act(ChipInput::Kind kind, int replica) { inject({kind, {}, replica}); }

  std::uint64_t put(const std::string& key, const std::string& value) {
    kv::PutRequest put;
    put.key = key;
    put.value = value;
    return request(RequestKind::kCommand, kv::encode(kv::Request(put)), ReplicaClient::kAnyReplica);
  }
  std::uint64_t request(RequestKind kind, std::string payload, EndpointId replica) {
    inject({ChipInput::Kind::kRequest, {++ids_, kind, replica, std::move(payload)}, 0});
    return ids_;
  }

  // Runs until the request is answered.
  ChipReply answer(std::uint64_t id) {
    for (int i = 0; !replies_.contains(id); ++i) {
      REQUIRE(i < 100'000);
      run_round();
    }
    return replies_[id];
  }
  void run_until_idle() {
    for (int i = 0; run_round() != Progress::kIdle; ++i) REQUIRE(i < 100'000);
  }
  Progress run_round() {
    const Progress progress = group_->round();
    for (ChipReply& reply : group_->take_replies()) replies_[reply.id] = std::move(reply);
    return progress;
  }

  Recording end() {
    recording_.end = group_->summary();
    return recording_;
  }
  ChipGroup& group() { return *group_; }

 private:
  Recording recording_;
  std::unique_ptr<ChipGroup> group_;
  std::map<std::uint64_t, ChipReply> replies_;
  std::uint64_t ids_ = 0;
};

DaemonConfig config_of(const std::string& agreement, const std::string& transport, int replicas = 3) {
  DaemonConfig config;
  config.backend = Backend::kScc;
  config.agreement = *value_of<AgreementKind>(agreement);
  config.transport = *value_of<TransportKind>(transport);
  config.replicas = replicas;
  config.voters = std::min(replicas, 5);
  return config;
}

void require_ok(const ChipReply& reply) { REQUIRE(reply.outcome == ReplicaReply::Outcome::kOk); }

int leader_of(ChipGroup& group) {
  for (std::size_t id = 0; id < group.view().replicas.size(); ++id) {
    const bool up = group.view().daemon->replicas[id].state.get() == static_cast<std::uint64_t>(ProcessState::kUp);
    const auto role = (*group.view().replicas[id])[ReplicaCounter::kRole].get();
    if (up && role == static_cast<std::uint64_t>(Role::kLeader)) return static_cast<int>(id);
  }
  return -1;
}

TEST_CASE("every agreement over every transport answers, and all replicas end with equal states") {
  for (const char* agreement : {"1paxos", "multipaxos", "2pc"}) {
    for (const char* transport : {"nvp", "srbp"}) {
      INFO(agreement << " over " << transport);
      Session session(config_of(agreement, transport, 4), {});
      for (int i = 0; i < 20; ++i) require_ok(session.answer(session.put("k" + std::to_string(i % 3), "v")));
      const auto local = session.request(RequestKind::kDigest, "", EndpointId(3));
      require_ok(session.answer(local));
      session.run_until_idle();
      const ChipSummary summary = session.group().summary();
      for (const auto& replica : summary.replicas) {
        CHECK(replica.applied_slots == summary.replicas[0].applied_slots);
        CHECK(replica.digest == summary.replicas[0].digest);
      }
      CHECK(summary.replicas[0].applied_slots > 0);
    }
  }
}

TEST_CASE("a value of a mebibyte goes through message buffers of 8 KB") {
  Session session(config_of("1paxos", "nvp"), {});
  require_ok(session.answer(session.put("large", std::string(1 << 20, 'x'))));
}

TEST_CASE("when the leader's core is killed or stopped, writes go on") {
  for (const auto kind : {ChipInput::Kind::kKill, ChipInput::Kind::kStop}) {
    for (const char* agreement : {"1paxos", "multipaxos"}) {
      INFO(agreement);
      Session session(config_of(agreement, "nvp"), {});
      require_ok(session.answer(session.put("a", "1")));
      const int leader = leader_of(session.group());
      REQUIRE(leader >= 0);
      session.act(kind, leader);
      require_ok(session.answer(session.put("a", "2")));
      CHECK(leader_of(session.group()) != leader);
      if (kind == ChipInput::Kind::kStop) {
        session.act(ChipInput::Kind::kContinue, leader);
        require_ok(session.answer(session.put("a", "3")));
        session.run_until_idle();
        const ChipSummary summary = session.group().summary();
        for (const auto& replica : summary.replicas) CHECK(replica.digest == summary.replicas[0].digest);
      } else {
        CHECK_FALSE(session.group().check({ChipInput::Kind::kContinue, {}, leader}).ok());
      }
    }
  }
}

TEST_CASE("with leader and acceptor stopped, --fence ends a core and writes go on, in the replay as well") {
  DaemonConfig config = config_of("1paxos", "nvp", 5);
  config.fence = true;
  Session session(config, {});
  require_ok(session.answer(session.put("a", "1")));
  session.act(ChipInput::Kind::kStop, 0);
  session.act(ChipInput::Kind::kStop, 1);
  require_ok(session.answer(session.put("a", "2")));
  const auto state = session.group().view().daemon->replicas[1].state.get();
  CHECK(state == static_cast<std::uint64_t>(ProcessState::kDead));
  session.act(ChipInput::Kind::kContinue, 0);
  require_ok(session.answer(session.put("a", "3")));
  session.run_until_idle();
  const Recording recording = session.end();
  CHECK(replay(recording).ok());
}

TEST_CASE("the same inputs give the same run, bit for bit, and another seed another one with the same state") {
  const auto run = [](std::uint64_t seed) {
    SccConfig scc;
    scc.seed = seed;
    Session session(config_of("1paxos", "srbp", 5), scc);
    for (int i = 0; i < 30; ++i) {
      const auto first = session.put("a", std::to_string(i));
      session.answer(session.put("b", std::to_string(i)));
      session.answer(first);
      if (i == 10) session.act(ChipInput::Kind::kStop, 1);
      if (i == 20) session.act(ChipInput::Kind::kContinue, 1);
      if (i == 25) session.act(ChipInput::Kind::kKill, leader_of(session.group()));
    }
    session.run_until_idle();
    return session.end();
  };
  const Recording recording = run(7);
  const auto again = replay(recording);
  INFO(again.status());
  REQUIRE(again.ok());
  CHECK(*again == *recording.end);

  Recording other = recording;
  other.scc.seed = 8;
  const auto elsewhere = replay(other);
  REQUIRE_FALSE(elsewhere.ok());  // the replay detects it

  CHECK(run(8).end->trace_hash != recording.end->trace_hash);
}

}  // namespace
}  // namespace ingot
