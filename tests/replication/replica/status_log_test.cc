// A replica's lines for the operator's log: each event once.
#include "replication/replica/status_log.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replication/agreement/move_request.h"

namespace ingot {
namespace {

using Lines = std::vector<std::string>;

AgreementStatus blocked(Blocked why, ReplicaSet by) {
  AgreementStatus status;
  status.blocked = true;
  status.why = why;
  status.blocked_by = by;
  return status;
}

TEST_CASE("a line when agreement is blocked, for each other cause, and when it is over") {
  Lines lines;
  StatusLog log(EndpointId(1), [&](const std::string& line) { lines.push_back(line); });
  constexpr std::uint64_t kMs = 1'000'000;
  log.observe({}, 1 * kMs);
  CHECK(lines.empty());

  AgreementStatus status = blocked(Blocked::kFormerLeader, ReplicaSet::of(2));
  log.observe(status, 10 * kMs);
  status.blocked_ms = 7;  // only time and slots differ: the cause is the same
  status.blocked_to = Slot(3);
  log.observe(status, 20 * kMs);
  CHECK(
      lines ==
      Lines{"replica 1 is blocked: it waits for replica 2: the acceptor does not answer, and a former leader that may "
            "have used it is stopped; it ends when one of the two goes on or is killed"});

  log.observe(blocked(Blocked::kFormerLeader, ReplicaSet::of(0)), 30 * kMs);  // another cause
  CHECK(lines.size() == 2);
  log.observe(blocked(Blocked::kCatchingUp, {}), 40 * kMs);  // no particular replica
  CHECK(lines.back() == "replica 1 is blocked: the leader lacks decided slots that it must know before it goes on; it "
                        "ends when a replica that has them goes on");

  log.observe({}, 260 * kMs);
  log.observe({}, 270 * kMs);
  CHECK(lines.size() == 4);
  CHECK(lines.back() == "replica 1 is no longer blocked, after 250 ms");
}

TEST_CASE("every cause has a sentence of its own") {
  std::vector<std::string> seen;
  for (int why = 1; why <= static_cast<int>(Blocked::kUnexplained); ++why) {
    const AgreementStatus status = blocked(static_cast<Blocked>(why), ReplicaSet::of(0));
    const std::string text = describe_blocked(status);
    CHECK(text.size() > 10);
    CHECK(text.find("unknown") == std::string::npos);
    CHECK(text.find("; it ") != std::string::npos);  // what ends it
    CHECK(std::count(seen.begin(), seen.end(), text) == 0);
    CHECK(explain_blocked(status) == "waits for replica 0: " + text);
    CHECK(blocked_sentence(EndpointId(1), status) == "replica 1 is blocked: it waits for replica 0: " + text);
    CHECK(blocked_sentence(EndpointId(0), status) == "replica 0 is blocked: " + text);
    seen.push_back(text);
  }
}

TEST_CASE("replica 0 and no particular replica are told apart, and several are all named") {
  const std::string text = describe_blocked(blocked(Blocked::kNoMajority, {}));
  CHECK(blocked_sentence(EndpointId(1), blocked(Blocked::kNoMajority, {})) == "replica 1 is blocked: " + text);
  CHECK(explain_blocked(blocked(Blocked::kNoMajority, ReplicaSet::of(0))) == "waits for replica 0: " + text);
  CHECK(explain_blocked(blocked(Blocked::kNoMajority, ReplicaSet::from_bits(0b101))) ==
        "waits for replicas 0, 2: " + text);
}

TEST_CASE("suspects and fenced replicas are named, and a log without a reader accepts every line") {
  Lines lines;
  StatusLog log(EndpointId(0), [&](const std::string& line) { lines.push_back(line); });
  log.suspected(EndpointId(2));
  log.fenced({EndpointId(1), Incarnation(3)}, true);
  log.fenced({EndpointId(1), Incarnation(3)}, false);
  CHECK(lines ==
        Lines{"replica 0 suspects replica 2, which takes too long to answer",
              "replica 0 fences replica 1, incarnation 3: it does not answer, and what it holds is needed; it was sent "
              "SIGKILL",
              "replica 0 wants replica 1, incarnation 3 fenced, which does not run any more"});
  StatusLog silent(EndpointId(0), nullptr);
  silent.observe(blocked(Blocked::kAcceptor, ReplicaSet::of(1)), 1);
  silent.suspected(EndpointId(1));
}

TEST_CASE("a request to move a role, and its answer, survive the wire, and nothing else does") {
  for (const RoleMove& move : {RoleMove{Role::kLeader, EndpointId(6)}, RoleMove{Role::kAcceptor, EndpointId(0)}}) {
    const std::string bytes = encode_move(move);
    CHECK(decode_move(bytes) == move);
    CHECK(!decode_move(bytes + "x"));
    CHECK(!decode_move(bytes.substr(1)));
  }
  CHECK(!decode_move(std::string("\x03\0\0", 3)));  // no such role
  for (const absl::Status& answer : {absl::OkStatus(), absl::FailedPreconditionError("not now"),
                                     absl::InvalidArgumentError("never")}) {
    CHECK(decode_move_answer(encode_move_answer(answer)) == answer);
  }
  CHECK(!decode_move_answer(""));
  CHECK(!decode_move_answer("\x11 no such code"));
}

}  // namespace
}  // namespace ingot
