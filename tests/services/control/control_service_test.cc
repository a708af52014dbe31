// Status, digests, topology and watches over real gRPC, on pages that the test writes.
#include "services/control/control_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "services/control/limits.h"
#include "services/status/status.h"
#include "tests/services/control/served_control.h"

namespace ingot {
namespace {

using control_v1::Control;
using control_v1::GetDigestsResponse;
using control_v1::GetStatusRequest;
using control_v1::GetStatusResponse;
using control_v1::GetTopologyResponse;
using control_v1::WatchStatusRequest;

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

struct StatusWatch {
  StatusWatch(control_v1::Control::Stub& stub, const std::string& caller) {
    context.AddMetadata("test-caller", caller);
    reader = stub.WatchStatus(&context, {});
  }
  ~StatusWatch() {
    context.TryCancel();
    if (!finished) reader->Finish();
  }
  bool reads() {
    GetStatusResponse response;
    return reader->Read(&response);
  }
  grpc::Status finish() {
    finished = true;
    return reader->Finish();
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<GetStatusResponse>> reader;
  bool finished = false;
};

// One caller could hold all places.
TEST_CASE("a caller may watch the status as often as there are places left, and once in any case") {
  Served served(1);
  std::vector<std::unique_ptr<StatusWatch>> watches;
  const auto open = [&](const std::string& caller) {
    watches.push_back(std::make_unique<StatusWatch>(*served.stub, caller));
    return watches.back()->reads();
  };
  for (int i = 0; i < kStatusWatchersMax / 2; ++i) REQUIRE(open("a:1"));
  REQUIRE(!open("a:1"));
  const grpc::Status refused = watches.back()->finish();
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(refused.error_message() ==
        "too many WatchStatus streams: 32 of 64 are taken, the most (32) by this connection; this connection has 32 "
        "and may have 32; close one or try later");
  for (int i = 0; i < kStatusWatchersMax / 2 + 10; ++i) REQUIRE(open("b:" + std::to_string(i)));
  REQUIRE(!open("b:0"));
  CHECK_THAT(watches.back()->finish().error_message(),
             Catch::Matchers::Contains("(32) by a:1; this connection has 1 and may have 1;"));
  watches.clear();
  while (!StatusWatch(*served.stub, "a:1").reads()) {  // the server notices with a delay
  }
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
