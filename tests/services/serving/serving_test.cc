// The serving parts that both backends use: one server for all services, metrics unless they are off, and draining.
#include "services/serving/solo_serving.h"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "proto/etcd/rpc.grpc.pb.h"
#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "proto/ingot/control/v1/scc.grpc.pb.h"
#include "services/access/method_access.h"
#include "services/rpc/server/limits.h"
#include "services/sockets/socket_path.h"
#include "services/sockets/tcp_listener.h"
#include "services/sockets/unix_listener.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

namespace control_v1 = ::ingot::control::v1;

class NoReplicas final : public ReplicaClient {
 public:
  void submit(RequestKind, std::string, Callback callback, EndpointId) override {
    callback({ReplicaReply::Outcome::kOverloaded, Slot(), {}});
  }
};

// A socket that listens: its address is in use until it ends.
class TakenAddress {
 public:
  TakenAddress() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(fd_, 1) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    text_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~TakenAddress() { ::close(fd_); }
  const std::string& text() const { return text_; }

 private:
  int fd_;
  std::string text_;
};

std::string free_address() { return TakenAddress().text(); }

struct Instance {
  Instance() {
    pages.config.listen = "127.0.0.1:0";
    auto made = claim_listen_address(pages.config.listen, "--listen");
    REQUIRE(made.ok());
    listener = *std::move(made);
    pages.config.metrics_listen = "";
  }
  // Also with a Unix socket, once `local` is bound.
  ListeningSockets listening() const {
    return {Descriptor(::dup(listener.get())), Descriptor(local.valid() ? ::dup(local.fd()) : -1)};
  }
  std::unique_ptr<SoloServing> make() {
    auto serving = SoloServing::create(pages.config, pages.view(), client);
    REQUIRE(serving.ok());
    return *std::move(serving);
  }

  std::shared_ptr<grpc::Channel> channel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    return grpc::CreateCustomChannel(pages.config.listen, grpc::InsecureChannelCredentials(), arguments);
  }

  PagesInMemory pages{3};
  NoReplicas client;
  Descriptor listener;
  UnixListener local;
};

class EmptyChip final : public control_v1::Scc::Service {
 public:
  grpc::Status GetChip(grpc::ServerContext*, const control_v1::GetChipRequest*,
                       control_v1::GetChipResponse* response) override {
    response->set_rounds(7);
    return grpc::Status::OK;
  }
};

// Calls a method with any bytes as its request.
grpc::Status call(const Instance& instance, const std::string& method, const std::string& request) {
  grpc::GenericStub stub(instance.channel());
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const grpc::Slice slice(request);
  const auto rpc = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&slice, 1), &queue);
  rpc->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  rpc->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  REQUIRE(queue.Next(&tag, &ok));
  return status;
}

}  // namespace

TEST_CASE("a request that does not parse is INTERNAL with etcd's text; it was UNIMPLEMENTED without one") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  const std::string cut_off(
      "\x0a\x05"
      "ab"),
      no_tag("\x07");
  for (const char* method :
       {"/etcdserverpb.KV/Put", "/etcdserverpb.KV/Range", "/etcdserverpb.KV/Txn", "/etcdserverpb.Maintenance/Status",
        "/etcdserverpb.Lease/LeaseGrant", "/etcdserverpb.Auth/AuthEnable", "/ingot.control.v1.Control/GetStatus",
        "/ingot.control.v1.Control/WatchStatus", "/ingot.control.v1.Control/GetDigests"}) {
    INFO(method);
    for (const std::string& malformed : {cut_off, no_tag}) {
      const grpc::Status status = call(instance, method, malformed);
      CHECK(status.error_code() == grpc::StatusCode::INTERNAL);
      CHECK_THAT(status.error_message(), Catch::StartsWith("grpc: error unmarshalling request: "));
    }
  }
  const grpc::Status refused = call(instance, "/etcdserverpb.Cluster/MemberAdd", "");  // a service's own refusal stays
  CHECK(refused.error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK_THAT(refused.error_message(), Catch::Contains("single member"));
}

TEST_CASE("a request that is too large is RESOURCE_EXHAUSTED with both sizes") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  const grpc::Status status = call(instance, "/etcdserverpb.KV/Put", std::string(rpc::kGrpcReceiveBytesMax + 1, 'x'));
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(status.error_message(), Catch::Contains("larger than max (2097153 vs. 2097152)"));
}

TEST_CASE("a method that no service has is named; its refusal had no text") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  const grpc::Status method = call(instance, "/etcdserverpb.KV/Nothing", "");
  CHECK(method.error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(method.error_message() == "unknown method Nothing for service etcdserverpb.KV");
  const grpc::Status service = call(instance, "/no.such.Service/Call", std::string(100, '\xff'));
  CHECK(service.error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(service.error_message() == "unknown method Call for service no.such.Service");
}

// Whom the table of methods lets pass, since a service refuses it to every caller.
TEST_CASE("what the table says no service carries out is refused by its service") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  for (const MethodAccess& each : method_accesses()) {
    if (each.carried_out) continue;
    CAPTURE(each.path);
    const grpc::Status status = call(instance, std::string(each.path), "");
    const bool as_etcd = status.error_message() == "etcdserver: authentication is not enabled" ||
                         status.error_message() == "etcdserver: member not found";
    CHECK((status.error_code() == grpc::StatusCode::UNIMPLEMENTED || as_etcd));
    CHECK_FALSE(status.error_message().starts_with("unknown method"));
  }
}

TEST_CASE("what is the owner's alone is refused over TCP and taken over the Unix socket") {
  char folder[] = "/tmp/ingot-serving-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  Instance instance;
  instance.pages.config.socket = std::string(folder) + "/a b.sock";
  auto bound = UnixListener::bind(instance.pages.config.socket, {});
  REQUIRE(bound.ok());
  instance.local = *std::move(bound);
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  const auto drill = [](const std::shared_ptr<grpc::Channel>& channel) {
    control_v1::DrillRequest request;  // of no kind: refused for that, if not before
    grpc::ClientContext context;
    const auto reader = control_v1::Control::NewStub(channel)->Drill(&context, request);
    control_v1::DrillResponse told;
    CHECK_FALSE(reader->Read(&told));
    return reader->Finish();
  };
  const grpc::Status remote = drill(instance.channel());
  CHECK(remote.error_code() == grpc::StatusCode::PERMISSION_DENIED);
  CHECK_THAT(remote.error_message(), Catch::Contains(instance.pages.config.socket));
  const auto channel = [&] {
    return grpc::CreateChannel(unix_target(instance.pages.config.socket), grpc::InsecureChannelCredentials());
  };
  CHECK(drill(channel()).error_code() == grpc::StatusCode::INVALID_ARGUMENT);

  instance.local = UnixListener();  // its file goes, and a new one comes
  auto again = UnixListener::bind(instance.pages.config.socket, {});
  REQUIRE(again.ok());
  instance.local = *std::move(again);
  REQUIRE(serving->serving().listen_local(Descriptor(::dup(instance.local.fd()))).ok());
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  control_v1::GetStatusResponse status;
  CHECK(control_v1::Control::NewStub(channel())->GetStatus(&context, {}, &status).ok());
  instance.local = UnixListener();
  CHECK(::rmdir(folder) == 0);
}

TEST_CASE("reflection lists every service, also the one that the loops serve themselves") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  grpc::GenericStub stub(instance.channel());
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto rpc = stub.PrepareCall(&context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto step = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  rpc->StartCall(nullptr);
  REQUIRE(step());
  const grpc::Slice list_services("\x3a\x00", 2);  // field 7, list_services: ""
  rpc->Write(grpc::ByteBuffer(&list_services, 1), nullptr);
  REQUIRE(step());
  grpc::ByteBuffer answer;
  rpc->Read(&answer, nullptr);
  REQUIRE(step());
  grpc::Slice bytes;
  REQUIRE(answer.DumpToSingleSlice(&bytes).ok());
  const std::string names(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  for (const char* name : {"etcdserverpb.KV", "etcdserverpb.Watch", "etcdserverpb.Maintenance",
                           "ingot.control.v1.Control", "grpc.health.v1.Health"}) {
    CHECK_THAT(names, Catch::Contains(name));
  }
  rpc->WritesDone(nullptr);
  step();
  grpc::Status status;
  rpc->Finish(&status, nullptr);
  step();
}

TEST_CASE("the control plane is served, and so are the services that a backend adds") {
  Instance instance;
  const auto serving = instance.make();
  serving->serving().add(std::make_unique<EmptyChip>());
  REQUIRE(serving->start(instance.listening()).ok());

  control_v1::GetStatusResponse status;
  grpc::ClientContext first;
  REQUIRE(control_v1::Control::NewStub(instance.channel())->GetStatus(&first, {}, &status).ok());
  CHECK(status.replicas_size() == 3);
  control_v1::GetChipResponse chip;
  grpc::ClientContext second;
  REQUIRE(control_v1::Scc::NewStub(instance.channel())->GetChip(&second, {}, &chip).ok());
  CHECK(chip.rounds() == 7);
}

TEST_CASE("an address of the metrics that is in use is named") {
  const TakenAddress taken;
  Instance measures;
  measures.pages.config.metrics_listen = taken.text();
  const absl::Status status = measures.make()->start(measures.listening());
  CHECK(status.code() == absl::StatusCode::kAlreadyExists);
  CHECK_THAT(std::string(status.message()), Catch::Contains("--metrics-listen"));
}

TEST_CASE("metrics are served where they are asked for") {
  Instance instance;
  instance.pages.config.metrics_listen = free_address();
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  Instance second;
  second.pages.config.metrics_listen = instance.pages.config.metrics_listen;
  CHECK(second.make()->start(second.listening()).code() == absl::StatusCode::kAlreadyExists);
}

TEST_CASE("clients' connections leave the process the files that it needs, also of a large instance") {
  CHECK(connections_max(1'024, 20) == 896);
  for (const std::uint64_t open : {20, 100, 350}) {
    CAPTURE(open);
    CHECK(open + static_cast<std::uint64_t>(connections_max(1'024, open)) <= 1'024 - 64);
  }
  CHECK(connections_max(100, 60) == 50);  // too little for both
  CHECK(connections_max(RLIM_INFINITY, 350) == rpc::kConnectionsMax);
}

TEST_CASE("draining ends the watches, and new calls are turned away") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  const auto stub = control_v1::Control::NewStub(instance.channel());
  grpc::ClientContext watching;
  const auto watch = stub->WatchStatus(&watching, {});
  control_v1::GetStatusResponse status;
  REQUIRE(watch->Read(&status));

  serving->drain();
  refuse_connections(instance.listener.get());  // as the supervisor does
  while (watch->Read(&status)) {
  }
  CHECK(watch->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
  grpc::ClientContext late;
  CHECK(stub->GetStatus(&late, {}, &status).error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("draining ends streams of keep-alives, though their clients would go on") {
  Instance instance;
  const auto serving = instance.make();
  REQUIRE(serving->start(instance.listening()).ok());
  const auto channel = instance.channel();
  const auto stub = etcdserverpb::Lease::NewStub(channel);
  grpc::ClientContext alive;
  const auto stream = stub->LeaseKeepAlive(&alive);
  control_v1::GetStatusResponse status;
  grpc::ClientContext asking;  // behind the stream's begin on the same connection
  REQUIRE(control_v1::Control::NewStub(channel)->GetStatus(&asking, {}, &status).ok());

  serving->drain();
  refuse_connections(instance.listener.get());
  etcdserverpb::LeaseKeepAliveResponse response;
  CHECK_FALSE(stream->Read(&response));
  CHECK(stream->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
}

}  // namespace ingot
