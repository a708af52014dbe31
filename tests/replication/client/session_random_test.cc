// Replicas that refuse, lose answers, die and restart at random: every submission has one answer, a command that was
// answered as not carried out was indeed not carried out, and only received results are acknowledged.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/prng.h"
#include "tests/replication/client/session_on_paper.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

constexpr int kReplicas = 3;
constexpr int kSubmissions = 60;

class RandomReplicas {
 public:
  explicit RandomReplicas(std::uint64_t seed) : prng_(seed), session_(SessionOnPaper::options(kReplicas)) {}

  void run() {
    while (submitted_.size() < kSubmissions || session_.core.in_flight() > 0) step();
    REQUIRE(session_.answers.size() == kSubmissions);
    for (const auto& [sequence, number] : submitted_) {
      if (session_.answers.at(number).outcome == ReplicaReply::Outcome::kOverloaded) REQUIRE(!done_.contains(sequence));
      if (session_.answers.at(number).outcome == ReplicaReply::Outcome::kOk) REQUIRE(done_.contains(sequence));
    }
  }

 private:
  struct Message {
    EndpointId at;
    Request request;
  };

  EndpointId any_replica() { return EndpointId(static_cast<std::uint16_t>(prng_.below(kReplicas))); }

  void step() {
    const auto choice = prng_.below(10);
    if (choice < 3 && submitted_.size() < kSubmissions) submit();
    else if (choice < 7 && !messages_.empty()) handle();
    else if (choice == 7) die_or_stop();
    else session_.pass_ns(prng_.below(40) * kNsPerMs);
    collect();
  }

  void submit() {
    const bool command = prng_.chance(0.7);
    const int number = session_.submit(command ? RequestKind::kCommand : RequestKind::kLinearizableQuery);
    REQUIRE(number != 0);
    const auto sent = session_.take_sent();
    REQUIRE(sent.size() == 1);
    REQUIRE(submitted_.emplace(sent[0].request.sequence, number).second);
    note(sent[0]);
  }

  void collect() {
    for (const SentRequest& sent : session_.take_sent()) note(sent);
  }

  void note(const SentRequest& sent) {
    REQUIRE(submitted_.contains(sent.request.sequence));
    for (const auto& [sequence, number] : submitted_) {
      if (sequence < sent.request.acknowledged_below) REQUIRE(session_.answers.contains(number));
    }
    Request request = sent.request;
    request.payload = {};
    messages_.push_back({sent.to, request});
  }

  // An attempt is carried out and answered, carried out without an answer, or refused, independently of others.
  void handle() {
    const std::size_t place = prng_.below(messages_.size());
    const Message message = messages_[place];
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(place));
    const auto choice = prng_.below(6);
    const bool carried_out = choice < 3;
    if (carried_out) done_.insert(message.request.sequence);
    if (choice == 0) return;
    auto status = Response::Status::kOk;
    if (!carried_out) status = prng_.chance(0.5) ? Response::Status::kBusy : Response::Status::kNotLeader;
    session_.respond(message.at, message.request.sequence, status, any_replica(), "", Slot(++slot_));
  }

  // A stop may be told of a replica that runs, and its end never.
  void die_or_stop() {
    const EndpointId replica = any_replica();
    if (prng_.chance(0.5)) return stop(replica);
    if (session_.core.routing().dead(replica)) {
      session_.core.replica_restarted(replica, prng_.chance(0.5), session_.now_ns);
      session_.core.replica_applied(replica, Slot(slot_));
    } else {
      session_.core.replica_died(replica, session_.now_ns);
      session_.execute();
    }
  }

  void stop(EndpointId replica) {
    if (session_.core.routing().doubted(replica) && prng_.chance(0.5)) {
      session_.core.replica_continued(replica);
    } else {
      session_.core.replica_stopped(replica, session_.now_ns);
      session_.execute();
    }
  }

  Prng prng_;
  SessionOnPaper session_;
  std::vector<Message> messages_;
  std::map<std::uint64_t, int> submitted_;  // sequence to number
  std::set<std::uint64_t> done_;            // sequences that a replica has carried out
  std::uint64_t slot_ = 0;
};

}  // namespace

TEST_CASE("with random replicas each submission has one answer, and it is true") {
  for (const std::uint64_t seed : testing::seeds(300)) {
    CAPTURE(seed);
    RandomReplicas(seed).run();
  }
}

}  // namespace ingot
