// Drills and moves over real gRPC, on pages that the test writes.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replication/agreement/move_request.h"
#include "services/control/control_service.h"
#include "services/control/limits.h"
#include "services/launch/process_signal.h"
#include "tests/services/control/served_control.h"

namespace ingot {
namespace {

// A process that does nothing, instead of a replica's.
class Victim {
 public:
  Victim() : pid(::fork()) {
    if (pid == 0) {
      for (;;) ::pause();
    }
  }
  ~Victim() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  void stand_in_for(ProcessEntry& entry) const {
    entry.started.set(process_start(pid));
    entry.pid.set_release(static_cast<std::uint64_t>(pid));
  }
  const pid_t pid;
};

control_v1::DrillRequest drill(control_v1::DrillRequest::Action action, control_v1::DrillRequest::Target target,
                               bool wait) {
  control_v1::DrillRequest request;
  request.set_action(action);
  request.set_target(target);
  request.set_wait(wait);
  return request;
}

TEST_CASE("a drill names its targets, hits them, and measures with writes until they are dead") {
  const Victim victim;  // forked before gRPC starts threads
  Served served(2);
  served.pages.set_role(1, Role::kLeader);
  victim.stand_in_for(served.pages.daemon.replicas[1]);
  grpc::ClientContext context;
  const auto reader = served.stub->Drill(
      &context, drill(control_v1::DrillRequest::ACTION_KILL, control_v1::DrillRequest::TARGET_LEADER, true));
  control_v1::DrillResponse told;
  REQUIRE(reader->Read(&told));
  REQUIRE(told.hits_size() == 1);
  CHECK(told.hits(0).replica() == 1);
  CHECK(told.hits(0).pid() == static_cast<std::uint32_t>(victim.pid));
  REQUIRE(reader->Read(&told));
  CHECK(condition_of(victim.pid) == ProcessCondition::kGone);
  CHECK(told.outage().writes() == served.client.commands);
  CHECK(told.outage().writes() > 0);
  CHECK(told.outage().gap().seconds() + told.outage().gap().nanos() > 0);
  CHECK(!reader->Read(&told));
  CHECK(reader->Finish().ok());
}

TEST_CASE("a drill without wait ends at once, and a refused one hits no process") {
  const Victim victim;
  Served served(2);
  served.pages.set_role(0, Role::kLeader);
  victim.stand_in_for(served.pages.daemon.replicas[0]);
  const auto call = [&](control_v1::DrillRequest::Action action) {
    grpc::ClientContext context;
    const auto reader = served.stub->Drill(&context, drill(action, control_v1::DrillRequest::TARGET_LEADER, false));
    control_v1::DrillResponse told;
    while (reader->Read(&told)) {
    }
    return reader->Finish();
  };
  const grpc::Status refused = call(control_v1::DrillRequest::ACTION_CONT);
  CHECK(refused.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(refused.error_message() == "replica 0, the leader, is not stopped");
  REQUIRE(call(control_v1::DrillRequest::ACTION_STOP).ok());
  while (condition_of(victim.pid) != ProcessCondition::kStopped) std::this_thread::yield();
  CHECK(served.client.commands == 0);
}

TEST_CASE("a drill or a move that the gate refuses does nothing, and the caller is told why") {
  const Victim victim;
  Served served(2);
  served.pages.set_role(0, Role::kLeader);
  victim.stand_in_for(served.pages.daemon.replicas[0]);
  served.refusal = absl::PermissionDeniedError("not for you");
  grpc::ClientContext drilling;
  const auto reader = served.stub->Drill(
      &drilling, drill(control_v1::DrillRequest::ACTION_KILL, control_v1::DrillRequest::TARGET_LEADER, false));
  control_v1::DrillResponse told;
  CHECK_FALSE(reader->Read(&told));
  grpc::ClientContext moving;
  control_v1::MoveRequest move;
  move.set_role(control_v1::ROLE_LEADER);
  move.set_to(1);
  control_v1::MoveResponse begun;
  for (const grpc::Status& refused : {reader->Finish(), served.stub->Move(&moving, move, &begun)}) {
    CHECK(refused.error_code() == grpc::StatusCode::PERMISSION_DENIED);
    CHECK(refused.error_message() == "not for you");
  }
  CHECK(condition_of(victim.pid) == ProcessCondition::kRunning);
}

TEST_CASE("a move is requested from the replica that the protocol requires, and its answer is passed on") {
  Served served(3);
  served.pages.config.voters = 2;
  served.pages.set_role(1, Role::kLeader);
  served.pages[2][ReplicaCounter::kBallot].set(7);
  const auto move = [&](control_v1::Role role, std::uint32_t to, control_v1::MoveResponse* begun) {
    control_v1::MoveRequest request;
    request.set_role(role);
    request.set_to(to);
    grpc::ClientContext context;
    return served.stub->Move(&context, request, begun);
  };
  control_v1::MoveResponse begun;
  served.client.move_answers[1] = absl::OkStatus();
  REQUIRE(move(control_v1::ROLE_ACCEPTOR, 0, &begun).ok());
  CHECK(begun.asked() == 1);  // the leader
  CHECK(begun.ballot() == 7);

  served.client.move_answers[0] = absl::FailedPreconditionError("not today");
  grpc::Status refused = move(control_v1::ROLE_LEADER, 0, &begun);
  CHECK(refused.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(refused.error_message() == "not today");

  served.client.move_answers[0] = absl::AlreadyExistsError("replica 0 leads already");
  REQUIRE(move(control_v1::ROLE_LEADER, 0, &begun).ok());
  CHECK(begun.already());
  served.client.move_answers[0] = absl::OkStatus();
  REQUIRE(move(control_v1::ROLE_LEADER, 0, &begun).ok());
  CHECK(!begun.already());

  served.client.move_answers.clear();  // from here on no replica may be asked
  CHECK(move(control_v1::ROLE_REPLICA, 0, &begun).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(move(control_v1::ROLE_LEADER, 3, &begun).error_message() == "there is no replica 3; replicas are 0 to 2");
  served.pages.set_state(2, ProcessState::kStopped);
  CHECK(move(control_v1::ROLE_LEADER, 2, &begun).error_message() == "replica 2 is stopped");
  served.pages.set_state(1, ProcessState::kDead);
  CHECK_THAT(move(control_v1::ROLE_ACCEPTOR, 0, &begun).error_message(), Catch::Matchers::Contains("nobody leads"));
}

}  // namespace
}  // namespace ingot
