// One session, with the replicas played by the test.
#include "replication/client/session_core.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "replication/requests/floor.h"
#include "tests/replication/client/session_on_paper.h"

namespace ingot {
namespace {

constexpr EndpointId kZero{0};
constexpr EndpointId kOne{1};
constexpr EndpointId kTwo{2};
constexpr auto kOk = Response::Status::kOk;
constexpr auto kNotLeader = Response::Status::kNotLeader;
constexpr auto kBusy = Response::Status::kBusy;
using Outcome = ReplicaReply::Outcome;

}  // namespace

TEST_CASE("a command goes to the leader at once, and the acceptor is to respond") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(RequestKind::kCommand, "put");
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kZero);
  REQUIRE(sent[0].request.kind == RequestKind::kCommand);
  REQUIRE(sent[0].request.client == 77);
  REQUIRE(sent[0].request.sequence == 1);
  REQUIRE(sent[0].request.reply_to == EndpointId(3));
  REQUIRE(sent[0].request.responder == kOne);
  REQUIRE(sent[0].payload == "put");
}

TEST_CASE("an answer ends its submission, and a second answer is ignored") {
  SessionOnPaper session(SessionOnPaper::options());
  const int put = session.submit();
  session.respond(kOne, 1, kOk, kZero, "done", Slot(5));
  REQUIRE(session.answers.at(put).outcome == Outcome::kOk);
  REQUIRE(session.answers.at(put).payload == "done");
  REQUIRE(session.answers.at(put).slot == Slot(5));
  REQUIRE(session.core.in_flight() == 0);
  session.respond(kTwo, 1, kOk, kZero, "again", Slot(5));
  REQUIRE(session.answers.size() == 1);
}

TEST_CASE("bytes that are not a response, and messages of endpoints that are not replicas, change nothing") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.core.receive(kOne, "rubbish", session.now_ns);
  session.respond(EndpointId(5), 1, kOk, kZero);
  session.respond(kOne, 99, kOk, kTwo);
  REQUIRE(session.answers.empty());
  REQUIRE(session.core.in_flight() == 1);
  REQUIRE(session.core.routing().leader() == kZero);
}

TEST_CASE("commands below the oldest without an answer are acknowledged; queries acknowledge nothing") {
  SessionOnPaper session(SessionOnPaper::options());
  for (int i = 0; i < 3; ++i) session.submit();
  session.respond(kOne, 3, kOk, kZero);
  session.respond(kOne, 1, kOk, kZero);
  session.take_sent();
  session.submit();
  REQUIRE(session.take_sent().at(0).request.acknowledged_below == 2);
  session.respond(kOne, 2, kOk, kZero);
  session.submit();
  REQUIRE(session.take_sent().at(0).request.acknowledged_below == 4);
  session.submit(RequestKind::kLinearizableQuery);
  const auto query = session.take_sent().at(0).request;
  REQUIRE(query.acknowledged_below == 0);
  REQUIRE(query.sequence >> 63 == 1);
}

TEST_CASE("each incarnation of the client uses sequences of its own") {
  auto options = SessionOnPaper::options();
  options.incarnation = Incarnation(2);
  SessionOnPaper session(options);
  session.submit();
  session.submit(RequestKind::kLocalQuery);
  const auto sent = session.take_sent();
  REQUIRE(sent.at(0).request.sequence == (std::uint64_t{1} << 40) + 1);
  REQUIRE(sent.at(1).request.sequence == (std::uint64_t{1} << 63 | std::uint64_t{1} << 40));
}

TEST_CASE("after a refusal that names the leader, every waiting request goes there at once") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.submit();
  session.take_sent();
  session.respond(kZero, 1, kNotLeader, kTwo);
  auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kTwo);
  REQUIRE(sent[0].request.sequence == 1);
  session.pass(0);
  sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kTwo);
  REQUIRE(sent[0].request.sequence == 2);
}

TEST_CASE("two replicas that name each other do not send a command to and fro") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.respond(kZero, 1, kNotLeader, kTwo);
  session.take_sent();
  session.respond(kTwo, 1, kNotLeader, kZero);
  REQUIRE(session.take_sent().empty());
  session.pass(1);
  REQUIRE(session.take_sent().size() == 1);
}

TEST_CASE("after an answer of a replica that does not lead and names itself, the next replica is asked") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.take_sent();
  session.respond(kZero, 1, kNotLeader, kZero);
  REQUIRE(session.core.routing().leader() == kOne);
  session.pass(1);
  REQUIRE(session.take_sent().at(0).to == kOne);
}

TEST_CASE("without an answer a command is sent again, with its sequence and another responder, ever more slowly") {
  SessionOnPaper session(SessionOnPaper::options(1));
  session.submit();
  session.take_sent();
  std::vector<std::uint64_t> at_ms;
  const std::uint64_t begin_ns = session.now_ns;
  for (int ms = 1; ms <= 2000; ++ms) {
    session.pass(1);
    for (const auto& sent : session.take_sent()) {
      REQUIRE(sent.request.sequence == 1);
      at_ms.push_back((session.now_ns - begin_ns) / kNsPerMs);
    }
  }
  REQUIRE(at_ms == std::vector<std::uint64_t>{250, 750, 1750});

  SessionOnPaper three(SessionOnPaper::options());
  three.submit();
  three.take_sent();
  three.pass_until(three.now_ns + 251 * kNsPerMs);
  const auto sent = three.take_sent();
  const auto retry = std::find_if(sent.begin(), sent.end(), [](const SentRequest& each) { return each.to == kZero; });
  REQUIRE(retry != sent.end());
  REQUIRE(retry->request.responder == kTwo);
}

TEST_CASE("a leader that is silent is suspected: one command at a time goes to each of the others in turn") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.submit();
  session.take_sent();
  session.pass(49);
  REQUIRE(session.take_sent().empty());
  session.pass(1);
  auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kOne);
  session.pass(50);
  sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kTwo);
  REQUIRE(session.core.routing().leader() == kZero);
}

TEST_CASE("requests to a dead replica are sent again at once, to another one") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.submit(RequestKind::kLocalQuery);
  session.take_sent();
  session.core.replica_died(kZero, session.now_ns);
  REQUIRE(session.core.deadline_ns() == session.now_ns);
  session.pass(0);
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kOne);
  REQUIRE(sent[0].request.sequence == 1);
}

TEST_CASE("requests to a stopped replica are sent again at once, to another one; its own answer still counts") {
  SessionOnPaper session(SessionOnPaper::options());
  const int put = session.submit();
  session.take_sent();
  session.core.replica_stopped(kZero, session.now_ns);
  REQUIRE(session.core.deadline_ns() == session.now_ns);
  session.pass(0);
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kOne);
  REQUIRE(sent[0].request.sequence == 1);
  session.core.replica_stopped(kZero, session.now_ns);  // no news
  session.pass(0);
  REQUIRE(session.take_sent().empty());
  session.respond(kZero, 1, kOk, kZero, "done");
  REQUIRE(session.answers.at(put).payload == "done");
  REQUIRE(session.core.routing().leader() == kZero);  // it has shown that it runs
}

TEST_CASE("a request that is refused while the leader is stopped goes round the others until one leads") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.take_sent();
  session.core.replica_stopped(kZero, session.now_ns);
  session.pass(0);
  REQUIRE(session.take_sent().at(0).to == kOne);
  session.respond(kOne, 1, kNotLeader, kZero);  // it has not heard of the stop
  session.pass(1);
  REQUIRE(session.take_sent().at(0).to == kTwo);
  session.respond(kTwo, 1, kNotLeader, kZero);
  session.pass(1);
  REQUIRE(session.take_sent().at(0).to == kOne);
  session.respond(kOne, 1, kNotLeader, kTwo);
  REQUIRE(session.take_sent().at(0).to == kTwo);
}

TEST_CASE("a command that a stopped replica was to answer is sent again, for another one to answer") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.submit(RequestKind::kLinearizableQuery);
  session.take_sent();
  session.core.replica_stopped(kOne, session.now_ns);
  session.pass(0);
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kZero);
  REQUIRE(sent[0].request.sequence == 1);
  REQUIRE(sent[0].request.responder != kOne);
}

// The supervisor died before it could say that the replica had gone on, and no other replica could lead.
TEST_CASE("a doubt that nothing ends is forgotten after a while: the others' word counts again") {
  SessionOnPaper session(SessionOnPaper::options());
  session.core.replica_stopped(kZero, session.now_ns);
  session.submit();
  REQUIRE(session.take_sent().at(0).to == kOne);
  session.now_ns += kDoubtMs * kNsPerMs;
  session.submit();
  session.take_sent();
  session.respond(kOne, 2, kNotLeader, kZero);
  REQUIRE(session.core.routing().leader() == kZero);
  REQUIRE(session.take_sent().at(0).to == kZero);
}

TEST_CASE("a message that waits for room is not sent again") {
  SessionOnPaper session(SessionOnPaper::options(1));
  session.submit();
  session.take_sent();
  session.backlogged.insert(0);
  session.pass(400);
  REQUIRE(session.take_sent().empty());
  session.backlogged.clear();
  session.pass(51);
  REQUIRE(session.take_sent().size() == 1);
}

TEST_CASE("a move is sent once") {
  SessionOnPaper session(SessionOnPaper::options());
  const int move = session.submit(RequestKind::kMove, "move", kTwo);
  REQUIRE(session.take_sent().at(0).to == kTwo);
  session.pass_until(session.now_ns + 8000 * kNsPerMs);
  REQUIRE(session.take_sent().empty());
  REQUIRE(session.answers.at(move).outcome == Outcome::kUnknown);
}

TEST_CASE("a command that was refused everywhere was not carried out; one that may have been is unknown") {
  SessionOnPaper session(SessionOnPaper::options());
  const int refused = session.submit();
  session.respond(kZero, 1, kBusy, kZero);
  REQUIRE(session.answers.at(refused).outcome == Outcome::kOverloaded);

  const int unknown = session.submit();
  session.pass_until(session.now_ns + 100 * kNsPerMs);  // sent to another replica, too
  session.respond(kZero, 2, kBusy, kZero);
  REQUIRE_FALSE(session.answers.contains(unknown));
  session.pass_until(session.now_ns + 7000 * kNsPerMs);
  REQUIRE(session.answers.at(unknown).outcome == Outcome::kUnknown);
  REQUIRE(session.core.in_flight() == 0);
}

TEST_CASE("a command that no replica took until its deadline was not carried out") {
  SessionOnPaper session(SessionOnPaper::options());
  const int put = session.submit();
  const std::uint64_t end_ns = session.now_ns + 7100 * kNsPerMs;
  while (session.now_ns < end_ns && session.answers.empty()) {
    for (const auto& sent : session.take_sent()) session.respond(sent.to, 1, kNotLeader, sent.to);
    session.pass(1);
  }
  REQUIRE(session.answers.at(put).outcome == Outcome::kOverloaded);
}

TEST_CASE("a query that is refused by a busy leader is asked again soon") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(RequestKind::kLinearizableQuery);
  const auto first = session.take_sent().at(0).request;
  session.respond(kZero, first.sequence, kBusy, kZero);
  REQUIRE(session.answers.empty());
  session.pass_ns(100'000);
  REQUIRE(session.take_sent().at(0).request.sequence == first.sequence);
}

// Regression: simulator seed 201580623. The leader was stopped, with messages that waited for room to it. Another replica
// had just been started again: it refused the read, was asked again at once, and so on, as fast as messages go.
TEST_CASE("a replica that refuses a read while the leader is silent is not asked again at once") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(RequestKind::kLinearizableQuery);
  session.backlogged.insert(kZero.value());
  std::size_t asked = 0;
  const std::uint64_t end_ns = session.now_ns + 500 * kNsPerMs;
  while (session.core.deadline_ns() < end_ns && asked < 1000) {
    session.pass_until(session.core.deadline_ns());
    for (const auto& sent : session.take_sent()) {
      if (sent.to == kZero) continue;
      session.respond(sent.to, sent.request.sequence, kBusy, kZero);
      ++asked;
    }
  }
  CHECK(asked > 2);
  CHECK(asked <= 20);  // once in each scan of 50 ms, at first sooner
}

TEST_CASE("a result that is gone, or a request that is malformed, is answered as unknown") {
  for (const auto status : {Response::Status::kResultGone, Response::Status::kRefused}) {
    SessionOnPaper session(SessionOnPaper::options());
    const int put = session.submit();
    session.respond(kOne, 1, status, kZero);
    REQUIRE(session.answers.at(put).outcome == Outcome::kUnknown);
  }
}

TEST_CASE("requests beyond a bound are not taken, and the bound is free again when one is answered") {
  auto options = SessionOnPaper::options();
  options.bounds.requests = 2;
  options.bounds.bytes = 10;
  SessionOnPaper session(options);
  REQUIRE(session.submit(RequestKind::kCommand, "12345678") != 0);
  REQUIRE(session.submit(RequestKind::kCommand, "123") == 0);
  REQUIRE(session.submit(RequestKind::kLocalQuery, "12") != 0);
  REQUIRE(session.submit(RequestKind::kLocalQuery, "") == 0);
  session.respond(kOne, 1, kOk, kZero);
  REQUIRE(session.submit(RequestKind::kCommand, "12345678") != 0);
}

TEST_CASE("a command that waits for long does not fall out of the window of results") {
  auto options = SessionOnPaper::options();
  options.bounds.window = 4;
  SessionOnPaper session(options);
  for (int i = 0; i < 4; ++i) REQUIRE(session.submit() != 0);
  for (std::uint64_t sequence = 2; sequence <= 4; ++sequence) session.respond(kOne, sequence, kOk, kZero);
  REQUIRE(session.submit() == 0);
  REQUIRE(session.submit(RequestKind::kLinearizableQuery) != 0);
  session.respond(kOne, 1, kOk, kZero);
  REQUIRE(session.submit() != 0);
}

TEST_CASE("a send whose submission is answered before it is taken is left out") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit();
  session.take_sent();
  session.core.replica_died(kZero, session.now_ns);
  session.core.tick(session.now_ns, [](EndpointId) { return false; });  // requests a send, which remains
  session.respond(kOne, 1, kOk, kOne);
  REQUIRE(session.take_sent().empty());
  REQUIRE(session.answers.size() == 1);
}

TEST_CASE("the timer stops when there was nothing to do for a while, and starts with the next request") {
  SessionOnPaper session(SessionOnPaper::options());
  REQUIRE(session.core.deadline_ns() == SessionCore::kNever);
  session.submit();
  REQUIRE(session.core.deadline_ns() != SessionCore::kNever);
  session.respond(kOne, 1, kOk, kZero);
  session.pass_until(session.now_ns + 900 * kNsPerMs);
  REQUIRE(session.core.deadline_ns() != SessionCore::kNever);
  session.pass_until(session.now_ns + 200 * kNsPerMs);
  REQUIRE(session.core.deadline_ns() == SessionCore::kNever);
  session.submit();
  REQUIRE(session.core.deadline_ns() != SessionCore::kNever);
}

// ---- Standing queries ----

constexpr auto kStanding = RequestKind::kStandingQuery;

TEST_CASE("a standing query waits at the nearest replica without a deadline or a timer") {
  SessionOnPaper session(SessionOnPaper::options());
  const int query = session.submit(kStanding, "what is new");
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kTwo);
  REQUIRE(sent[0].request.kind == kStanding);
  REQUIRE(session.core.deadline_ns() == SessionCore::kNever);
  REQUIRE(session.core.in_flight() == 0);
  session.pass(3'600'000);
  REQUIRE(session.take_sent().empty());
  session.respond(kTwo, sent[0].request.sequence, kOk, kZero, "this");
  REQUIRE(session.answers.at(query).payload == "this");
}

TEST_CASE("a session whose only open request stands sleeps after a while") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(kStanding);
  session.submit(RequestKind::kCommand);
  session.respond(kOne, 1, kOk, kZero);
  session.take_sent();
  session.pass_until(session.now_ns + 3'000 * kNsPerMs);
  REQUIRE(session.core.deadline_ns() == SessionCore::kNever);
  REQUIRE(session.take_sent().empty());
}

TEST_CASE("a standing query takes the place of the one before, whose answer counts no more") {
  SessionOnPaper session(SessionOnPaper::options());
  const int first = session.submit(kStanding, "first");
  const int second = session.submit(kStanding, "second");
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 2);
  REQUIRE(session.answers.at(first).outcome == Outcome::kUnknown);
  session.respond(kTwo, sent[0].request.sequence, kOk, kZero, "late");
  REQUIRE_FALSE(session.answers.contains(second));
  session.respond(kTwo, sent[1].request.sequence, kOk, kZero, "now");
  REQUIRE(session.answers.at(second).payload == "now");
}

TEST_CASE("a standing query goes to another replica when its own dies, stops or is not ready") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(kStanding);
  const std::uint64_t sequence = session.take_sent().at(0).request.sequence;
  session.core.replica_died(kTwo, session.now_ns);
  session.pass(0);
  auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kZero);
  REQUIRE(sent[0].request.sequence == sequence);
  session.core.replica_stopped(kZero, session.now_ns);
  session.pass(0);
  sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kOne);
  session.respond(kOne, sequence, kBusy, kZero);
  REQUIRE(session.take_sent().empty());
  session.pass_until(session.now_ns + kNsPerMs);
  REQUIRE(session.take_sent().size() == 1);
}

TEST_CASE("with all replicas dead, a standing query goes to the first that comes back, at once") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(kStanding);
  for (const EndpointId replica : {kTwo, kOne, kZero}) {
    session.core.replica_died(replica, session.now_ns);
    session.pass(1);
  }
  session.take_sent();
  session.pass_until(session.now_ns + 60'000 * kNsPerMs);
  REQUIRE(session.take_sent().empty());
  session.core.replica_restarted(kOne, /*lags=*/true, session.now_ns);
  REQUIRE(session.core.deadline_ns() <= session.now_ns);
  session.pass(0);
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kOne);
}

TEST_CASE("a standing query passes over a replica whose messages wait, and does not spin if all of them do") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(kStanding);
  session.take_sent();
  session.backlogged = {0};
  session.core.replica_died(kTwo, session.now_ns);
  session.pass(0);
  auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kOne);
  session.backlogged = {0, 1};
  session.core.replica_died(kOne, session.now_ns);
  int ticks = 0;
  for (const std::uint64_t end_ns = session.now_ns + 1'000 * kNsPerMs; session.core.deadline_ns() < end_ns; ++ticks) {
    session.pass_ns(session.core.deadline_ns() - std::min(session.core.deadline_ns(), session.now_ns));
  }
  REQUIRE(ticks < 30);
  REQUIRE(session.take_sent().empty());
  session.backlogged.clear();
  session.pass(100);
  REQUIRE(session.take_sent().size() == 1);
}

TEST_CASE("a standing query that was dropped for want of room is sent again when there is room") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(kStanding);
  session.take_sent();
  session.core.channel_drained(kZero, session.now_ns);
  session.pass(0);
  REQUIRE(session.take_sent().empty());
  session.core.channel_drained(kTwo, session.now_ns);
  session.pass(0);
  REQUIRE(session.take_sent().size() == 1);
}

TEST_CASE("queries can ask for the next replica from the nearest one on") {
  SessionOnPaper session(SessionOnPaper::options());
  for (int places = 0; places < 4; ++places) {
    session.submit(kStanding, "x", ReplicaClient::from_nearest(places));
    session.submit(RequestKind::kLocalQuery, "x", ReplicaClient::from_nearest(places));
  }
  const auto sent = session.take_sent();
  for (std::size_t i = 0; i < 8; ++i) REQUIRE(sent.at(i).to.value() == (2 + i / 2) % 3);
}

// Regression: a local query missed a put that was acknowledged just before, if its replica lagged behind the put's.
TEST_CASE("a local query asks for what any session of the process was answered before") {
  auto options = SessionOnPaper::options();
  options.shown = std::make_shared<ShownSlot>(Slot(3));
  SessionOnPaper session(options), other(options);
  session.submit(RequestKind::kLocalQuery);
  REQUIRE(floor_of(session.take_sent().at(0).request) == Slot(3));
  session.submit();
  const SentRequest put = session.take_sent().at(0);
  REQUIRE(put.request.acknowledged_below == 1);
  session.respond(kOne, put.request.sequence, kOk, kZero, "", Slot(9));
  for (SessionOnPaper* each : {&session, &other}) {
    each->submit(RequestKind::kLocalQuery);
    REQUIRE(floor_of(each->take_sent().at(0).request) == Slot(9));
    each->submit(RequestKind::kLinearizableQuery);
    REQUIRE(each->take_sent().at(0).request.acknowledged_below == 0);
  }
}

TEST_CASE("a local query asks for the state that another local query was answered from") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(RequestKind::kLocalQuery);
  const SentRequest first = session.take_sent().at(0);
  session.respond(first.to, first.request.sequence, kOk, kZero, "", Slot(5));
  session.submit(RequestKind::kLocalQuery);
  const SentRequest second = session.take_sent().at(0);
  REQUIRE(floor_of(second.request) == Slot(5));
  session.respond(second.to, second.request.sequence, kOk, kZero, "", Slot(4));  // no replica does this
  session.submit(RequestKind::kLocalQuery);
  REQUIRE(floor_of(session.take_sent().at(0).request) == Slot(5));
}

TEST_CASE("a local query whose replica does not come so far goes to the next one, with the same floor") {
  auto options = SessionOnPaper::options();
  options.shown = std::make_shared<ShownSlot>(Slot(3));
  SessionOnPaper session(options);
  session.submit(RequestKind::kLocalQuery);
  REQUIRE(session.take_sent().at(0).to == kTwo);
  options.shown->show(Slot(8));
  session.pass_until(session.now_ns + 300 * kNsPerMs);
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kZero);
  REQUIRE(floor_of(sent[0].request) == Slot(3));
}

// Regression: the same replica was asked until the query's time was over.
TEST_CASE("a local query whose replica has no room for it goes to the next one") {
  SessionOnPaper session(SessionOnPaper::options());
  session.submit(RequestKind::kLocalQuery);
  const SentRequest first = session.take_sent().at(0);
  REQUIRE(first.to == kTwo);
  session.respond(kTwo, first.request.sequence, kBusy, kZero);
  session.pass_until(session.now_ns + kNsPerMs);
  const auto sent = session.take_sent();
  REQUIRE(sent.size() == 1);
  REQUIRE(sent[0].to == kZero);
}

TEST_CASE("a replica that has not come to a floor in time is passed by until it has") {
  auto options = SessionOnPaper::options();
  options.shown = std::make_shared<ShownSlot>(Slot(3));
  options.told_applied = true;
  SessionOnPaper session(options);
  const auto asks = [&] {
    session.submit(RequestKind::kLocalQuery);
    return session.take_sent().at(0);
  };
  REQUIRE(asks().to == kTwo);
  session.pass_until(session.now_ns + 300 * kNsPerMs);
  const auto again = session.take_sent();
  REQUIRE(again.size() == 1);
  REQUIRE(again[0].to == kZero);
  const SentRequest passes_by = asks();
  REQUIRE(passes_by.to == kZero);
  session.core.replica_applied(kTwo, Slot(2));
  REQUIRE(asks().to == kZero);
  session.core.replica_applied(kTwo, Slot(3));
  REQUIRE(asks().to == kTwo);
}

TEST_CASE("what is shown never goes back") {
  ShownSlot shown(Slot(4));
  shown.show(Slot(3));
  REQUIRE(shown.get() == Slot(4));
  shown.show(Slot(7));
  REQUIRE(shown.get() == Slot(7));
}

}  // namespace ingot
