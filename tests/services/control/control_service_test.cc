// The control plane over real gRPC, on pages that the test writes.
#include "services/control/control_service.h"

#include <grpcpp/grpcpp.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/wire.h"
#include "replication/agreement/move_request.h"
#include "services/control/limits.h"
#include "services/process/process_signal.h"
#include "services/status/status.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

using control_v1::Control;
using control_v1::GetDigestsResponse;
using control_v1::GetStatusRequest;
using control_v1::GetStatusResponse;
using control_v1::GetTopologyResponse;
using control_v1::WatchStatusRequest;

// Answers digest requests by a script, each from its own thread and in no particular order. tests/daemon/digests_test
// tests the real client.
class ScriptedClient final : public ReplicaClient {
 public:
  struct Script {
    ReplicaReply::Outcome outcome;
    std::uint64_t slot, digest;
  };

  ~ScriptedClient() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(RequestKind kind, std::string, Callback callback, EndpointId replica) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, kind, replica, callback = std::move(callback)] {
      const Script script = kind == RequestKind::kDigest ? scripts.at(replica.value()) : Script{};
      std::string payload = WireWriter().u64(script.digest).take();
      if (kind == RequestKind::kMove) payload = encode_move_answer(move_answers.at(replica.value()));
      if (kind == RequestKind::kCommand) ++commands;
      callback({script.outcome, Slot(script.slot), payload});
    });
  }

  std::map<std::uint16_t, Script> scripts;  // a replica without one must not be asked
  std::map<std::uint16_t, absl::Status> move_answers;  // likewise
  std::atomic<unsigned> commands{0};

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class Served {
 public:
  explicit Served(int replicas)
      : pages(replicas), service_(make_control_service(pages.config, pages.view(), client, metrics, gate())) {
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub = Control::NewStub(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                                      grpc::InsecureChannelCredentials(), arguments));
  }
  ~Served() {
    service_->end_watches();
    server_->Shutdown();
    server_->Wait();
  }
  void end_watches() { service_->end_watches(); }

  PagesInMemory pages;
  ScriptedClient client;
  RequestMetrics metrics;
  std::unique_ptr<Control::Stub> stub;
  absl::Status refusal;  // of every call that the gate is asked about; OK: none is refused

 private:
  CallGate gate() {
    return [this](const grpc::CallbackServerContext&, std::string_view path) {
      const bool known = path == "/ingot.control.v1.Control/Drill" || path == "/ingot.control.v1.Control/Move";
      return known ? refusal : absl::InternalError("the path is not that of a method");
    };
  }

  std::unique_ptr<ControlService> service_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_CASE("GetStatus answers from the pages alone, and with digests on request") {
  Served served(3);
  GetStatusResponse response;
  grpc::ClientContext plain;
  REQUIRE(served.stub->GetStatus(&plain, {}, &response).ok());
  CHECK(response.replicas_size() == 3);
  CHECK(!response.replicas(0).has_digest());

  served.client.scripts[0] = {ReplicaReply::Outcome::kOk, 8, 0xfeedfacecafebeef};
  served.client.scripts[2] = {ReplicaReply::Outcome::kUnknown, 0, 0};
  served.pages.set_state(1, ProcessState::kDead);  // not asked: it has no script
  GetStatusRequest request;
  request.set_digests(true);
  grpc::ClientContext with_digests;
  REQUIRE(served.stub->GetStatus(&with_digests, request, &response).ok());
  CHECK(response.replicas(0).digest().slot() == 8);
  CHECK(response.replicas(0).digest().digest() == 0xfeedfacecafebeef);
  CHECK(!response.replicas(1).has_digest());
  CHECK(!response.replicas(2).has_digest());
}

TEST_CASE("GetDigests has an entry for every replica, whether it answers or not") {
  Served served(3);
  served.pages.set_state(0, ProcessState::kStopped);
  served.client.scripts[1] = {ReplicaReply::Outcome::kOk, 5, 51};
  served.client.scripts[2] = {ReplicaReply::Outcome::kOverloaded, 6, 62};
  GetDigestsResponse response;
  grpc::ClientContext context;
  REQUIRE(served.stub->GetDigests(&context, {}, &response).ok());
  REQUIRE(response.replicas_size() == 3);
  for (int id : {0, 1, 2}) CHECK(response.replicas(id).replica() == static_cast<std::uint32_t>(id));
  CHECK(!response.replicas(0).has_digest());
  CHECK(response.replicas(1).digest().digest() == 51);
  CHECK(!response.replicas(2).has_digest());
}

TEST_CASE("GetTopology shows this machine and every process's place on it") {
  Served served(2);
  served.pages.daemon.replicas[1].core.set(1);
  served.pages.daemon.front_end.pid.set(42);
  GetTopologyResponse response;
  grpc::ClientContext context;
  REQUIRE(served.stub->GetTopology(&context, {}, &response).ok());
  CHECK(response.cores_size() > 0);
  CHECK(response.cores(0).hardware_threads_size() > 0);
  CHECK(response.packages() > 0);
  REQUIRE(response.placements_size() == 3);
  CHECK(response.placements(1).process() == "replica 1");
  CHECK(response.placements(1).pid() == 1001);
  CHECK(response.placements(1).core() == 1);
  CHECK(response.placements(2).process() == "front end");
}

TEST_CASE("the whole machine is seen from a thread that is bound to one core") {
  const auto before = whole_machine();
  REQUIRE(before.ok());
  std::thread([&] {
    REQUIRE(bind_this_thread({before->cores.front().id}).ok());
    const auto bound = whole_machine();
    REQUIRE(bound.ok());
    CHECK(bound->cores == before->cores);
  }).join();
}

TEST_CASE("a watcher sees the status now, then each change, and an end when the daemon shuts down") {
  Served served(3);
  WatchStatusRequest request;
  request.mutable_interval()->set_seconds(3600);  // progress must not be what wakes this test
  grpc::ClientContext context;
  const auto reader = served.stub->WatchStatus(&context, request);
  GetStatusResponse response;
  REQUIRE(reader->Read(&response));
  CHECK(response.replicas(0).role() == control_v1::ROLE_REPLICA);

  served.pages.set_role(0, Role::kLeader);
  REQUIRE(reader->Read(&response));
  CHECK(response.replicas(0).role() == control_v1::ROLE_LEADER);

  served.pages.set_progress(0, 9, 9, 9);
  served.pages.set_state(2, ProcessState::kDead);
  REQUIRE(reader->Read(&response));
  while (response.replicas(2).state() != control_v1::STATE_DEAD) REQUIRE(reader->Read(&response));
  CHECK(response.replicas(0).applied() == 9);

  served.end_watches();
  CHECK(!reader->Read(&response));
  CHECK(reader->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("a watcher sees progress at its interval") {
  Served served(1);
  WatchStatusRequest request;
  request.mutable_interval()->set_nanos(1'000'000);
  grpc::ClientContext context;
  const auto reader = served.stub->WatchStatus(&context, request);
  GetStatusResponse response;
  REQUIRE(reader->Read(&response));
  for (std::uint64_t slot : {5u, 6u, 7u}) {
    served.pages.set_progress(0, slot, slot, slot);
    do {  // the page's words are set one by one, and may be read in between
      REQUIRE(reader->Read(&response));
    } while (response.replicas(0).applied() < slot);
    CHECK(response.replicas(0).applied() == slot);
  }
  context.TryCancel();
  while (reader->Read(&response)) {
  }
  CHECK(reader->Finish().error_code() == grpc::StatusCode::CANCELLED);
}

TEST_CASE("watchers beyond the limit are refused until one leaves") {
  Served served(1);
  struct Watch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<GetStatusResponse>> reader;
  };
  const auto watch = [&] {
    auto watch = std::make_unique<Watch>();
    watch->reader = served.stub->WatchStatus(&watch->context, {});
    return watch;
  };
  GetStatusResponse response;
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < kStatusWatchersMax; ++i) {
    watches.push_back(watch());
    REQUIRE(watches.back()->reader->Read(&response));
  }
  const auto refused = watch();
  CHECK(!refused->reader->Read(&response));
  CHECK(refused->reader->Finish().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);

  watches.front()->context.TryCancel();
  watches.front()->reader->Finish();
  for (bool served_again = false; !served_again;) {  // the server notices with a delay
    const auto next = watch();
    served_again = next->reader->Read(&response);
    next->context.TryCancel();
    next->reader->Finish();
  }
  for (const auto& open : watches) open->context.TryCancel();
}

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

TEST_CASE("a negative interval is refused in a sentence") {
  Served served(1);
  WatchStatusRequest request;
  request.mutable_interval()->set_seconds(-1);
  grpc::ClientContext context;
  const auto reader = served.stub->WatchStatus(&context, request);
  GetStatusResponse response;
  CHECK(!reader->Read(&response));
  const grpc::Status status = reader->Finish();
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK_THAT(status.error_message(), Catch::Matchers::Contains("interval"));
}

// A watcher that does not read must not delay others, nor the daemon's end.
TEST_CASE("a watcher that does not read affects no other") {
  Served served(48);
  grpc::ClientContext lazy_context, context;
  const auto lazy = served.stub->WatchStatus(&lazy_context, {});
  const auto reader = served.stub->WatchStatus(&context, {});
  GetStatusResponse response;
  REQUIRE(reader->Read(&response));
  for (std::uint64_t incarnation = 2; incarnation < 20; ++incarnation) {
    served.pages.set_incarnation(3, incarnation);
    while (response.replicas(3).incarnation() != incarnation) REQUIRE(reader->Read(&response));
  }
  lazy_context.TryCancel();
  context.TryCancel();
}

}  // namespace
}  // namespace ingot
