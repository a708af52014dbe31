// Maintenance.Snapshot over gRPC: what it waits for, what it sends, and how many at a time.
#include <grpcpp/grpcpp.h>
#include <sys/mman.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/check.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/writer.h"
#include "replication/requests/request.h"
#include "replication/requests/snapshot_wish.h"
#include "replication/store/codec.h"
#include "services/access/caller.h"
#include "services/backup/load.h"
#include "services/etcd/services.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;

// Answers every command as a group does that has applied it as the slot before `slot`.
class Group final : public ReplicaClient {
 public:
  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId) override {
    INGOT_CHECK(kind == RequestKind::kCommand && is_snapshot_wish(payload), "a call asks for nothing else");
    ReplicaReply reply;
    reply.outcome = outcome;
    reply.slot = slot;
    callback(reply);
  }

  ReplicaReply::Outcome outcome = ReplicaReply::Outcome::kOk;
  Slot slot{1};
};

// A replica's state with some large values, published.
struct Published {
  explicit Published(int keys) {
    for (int i = 0; i < keys; ++i) {
      kv::PutRequest put;
      put.key = std::to_string(i);
      put.value = std::string(100'000, 'v');
      const std::string payload = kv::encode(kv::Request(put));
      Request request;
      request.sequence = static_cast<std::uint64_t>(i);
      request.acknowledged_below = request.sequence;
      request.payload = payload;
      std::string batch;
      append_command(batch, request);
      applier.apply(applier.applied(), batch, [](const Applier::Applied&) {});
    }
    REQUIRE(store.live_keys() == keys);
    REQUIRE(write_snapshot_file(fd.get(), Slot(1), [&](StateMachine::Sink sink) { applier.save(sink); }));
  }

  kv::KvStore store;
  Applier applier{store};
  Descriptor fd{::memfd_create("snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
};

// A user's process if the test says so, else an address.
Caller caller_of(const grpc::CallbackServerContext& context) {
  const auto& found = context.client_metadata().find("caller")->second;
  std::string name(found.data(), found.size());
  if (!name.starts_with("unix:")) return {Caller::Door::kTcp, std::move(name), std::nullopt};
  const auto uid = static_cast<uid_t>(std::stoul(name.substr(name.find("uid=") + 4)));
  return {Caller::Door::kUnix, std::move(name), Caller::Credentials{uid, uid, 1}};
}

struct Server {
  Server() {
    view.daemon = &daemon;
    view.loss = &loss;
    service = etcd::make_maintenance_service(group, config, view, metrics, {.newest = &newest, .caller = caller_of});
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service.get());
    server = builder.BuildAndStart();
    channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials());
    stub = pb::Maintenance::NewStub(channel);
  }
  ~Server() { server->Shutdown(std::chrono::system_clock::now()); }

  Group group;
  DaemonConfig config;
  DaemonPage daemon;
  SupervisorLoss loss;
  InstanceView view;
  RequestMetrics metrics;
  NewestSnapshot newest{{}};
  std::unique_ptr<grpc::Service> service;
  std::unique_ptr<grpc::Server> server;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<pb::Maintenance::Stub> stub;
};

struct Call {
  explicit Call(Server& server, const std::string& caller = "10.0.0.1:1") {
    context.AddMetadata("caller", caller);
    reader = server.stub->Snapshot(&context, pb::SnapshotRequest());
  }

  // The whole file; an error leaves `status`.
  std::string read() {
    std::string file;
    pb::SnapshotResponse part;
    while (reader->Read(&part)) {
      file += part.blob();
      left = part.remaining_bytes();
    }
    status = reader->Finish();
    return file;
  }
  grpc::Status finish() {
    read();
    return status;
  }

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<pb::SnapshotResponse>> reader;
  std::uint64_t left = 1;
  grpc::Status status;
};

TEST_CASE("a call waits for a snapshot that holds all that was decided before it, and sends that one") {
  const Published before(1), after(30);
  Server server;
  server.group.slot = Slot(7);
  server.newest.offer(Slot(6), before.fd.get());
  Call call(server);
  std::thread publisher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // some looks find nothing
    server.newest.offer(Slot(7), after.fd.get());
  });
  const std::string file = call.read();
  publisher.join();
  REQUIRE(call.status.ok());
  CHECK(call.left == 0);
  kv::KvStore store;
  const auto read = load_backup(file, store);
  REQUIRE(read.ok());
  CHECK(store.digest() == after.store.digest());
  CHECK(read->header.revision == after.store.revision());
  CHECK(read->header.cluster_id == server.config.cluster_id);
}

TEST_CASE("a few calls are sent at a time, and one that is given up leaves its place") {
  const Published state(600);  // more than a client that reads little makes room for
  Server server;
  server.newest.offer(Slot(1), state.fd.get());
  pb::SnapshotResponse part;
  Call first(server);
  REQUIRE(first.reader->Read(&part));
  Call second(server, "10.0.0.2:1");
  REQUIRE(second.reader->Read(&part));
  const grpc::Status refused = Call(server, "10.0.0.3:1").finish();
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(refused.error_message().starts_with(
      "no more than 2 snapshots are sent at a time, now to 10.0.0.1:1 and 10.0.0.2:1;"));
  pb::DefragmentResponse other;
  grpc::ClientContext context;
  CHECK(server.stub->Defragment(&context, pb::DefragmentRequest(), &other).ok());
  first.context.TryCancel();
  CHECK(first.finish().error_code() == grpc::StatusCode::CANCELLED);
  for (;;) {  // the server hears of it a little later
    const grpc::Status next = Call(server).finish();
    if (next.ok()) break;
    REQUIRE(next.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  second.read();
  CHECK(second.status.ok());
}

// Regression: who took two snapshots slowly kept all others from theirs.
TEST_CASE("an address and a user has one snapshot at a time, and the refusal names who has it") {
  const Published state(600);
  Server server;
  server.newest.offer(Slot(1), state.fd.get());
  const std::array<std::array<const char*, 3>, 2> doors = {
      {{"[::1]:7", "[::1]:8", "[::2]:7"}, {"unix:pid=7,uid=5", "unix:pid=8,uid=5", "unix:pid=7,uid=6"}}};
  for (const auto& [holder, again, other] : doors) {
    Call first(server, holder);
    pb::SnapshotResponse part;
    REQUIRE(first.reader->Read(&part));
    const grpc::Status refused = Call(server, again).finish();
    CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(refused.error_message().starts_with(std::string("a snapshot is being sent to ") + holder + ", and to one "));
    CHECK(Call(server, other).finish().ok());
    first.read();
    CHECK(first.status.ok());
  }
}

TEST_CASE("without an answer of the replicas, or without a supervisor, a call ends with a sentence") {
  Server server;
  server.group.outcome = ReplicaReply::Outcome::kUnknown;
  CHECK(Call(server).finish().error_message() == "etcdserver: request timed out");
  server.group.outcome = ReplicaReply::Outcome::kOk;
  server.loss.since_ns.set_release(1);
  const grpc::Status orphan = Call(server).finish();
  CHECK(orphan.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(orphan.error_message().starts_with("there is no supervisor"));
}

}  // namespace
}  // namespace ingot
