// Features that every gRPC tool expects of a server: health, reflection, and an error for an address in use.
#include "services/serving/grpc_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "proto/etcd/rpc.grpc.pb.h"
#include "services/access/caller_codec.h"

namespace ingot {
namespace {

std::string free_address() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  ::close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

grpc::ByteBuffer buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string text(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  REQUIRE(bytes.Dump(&slices).ok());
  std::string all;
  for (const grpc::Slice& slice : slices) all.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return all;
}

// Sends one message on a call of any method and returns the first answer. Messages are protobuf encoded by hand, so
// that the test needs no generated code for gRPC's own services.
std::string exchange(const std::string& address, const std::string& method, const std::string& request) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  auto call = stub.PrepareCall(&context, method, &queue);
  const auto done = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    REQUIRE(queue.Next(&tag, &ok));
    return ok;
  };
  call->StartCall(nullptr);
  REQUIRE(done());
  call->Write(buffer(request), nullptr);
  REQUIRE(done());
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  const bool answered = done();
  call->WritesDone(nullptr);
  done();
  grpc::Status status;
  call->Finish(&status, nullptr);
  done();
  INFO(status.error_message());
  REQUIRE(answered);
  return text(answer);
}

struct RunningServer {
  // Another program may take the free port first.
  RunningServer() {
    for (int i = 0; i < 20 && server == nullptr; ++i) {
      address = free_address();
      auto started = start_grpc_server(address, {service.get()});
      if (started.ok()) server = std::move(*started);
    }
    REQUIRE(server != nullptr);
  }

  std::string address;
  std::unique_ptr<grpc::Service> service = std::make_unique<etcdserverpb::Lease::CallbackService>();
  std::unique_ptr<grpc::Server> server;
};

}  // namespace

TEST_CASE("health says SERVING, and NOT_SERVING once the server drains") {
  RunningServer running;
  const std::string check = "/grpc.health.v1.Health/Check";
  REQUIRE(exchange(running.address, check, "") == std::string("\x08\x01", 2));  // status: SERVING
  running.server->GetHealthCheckService()->SetServingStatus(false);
  REQUIRE(exchange(running.address, check, "") == std::string("\x08\x02", 2));  // status: NOT_SERVING
}

TEST_CASE("reflection lists the services") {
  RunningServer running;
  const std::string list_services("\x3a\x00", 2);  // field 7, list_services: ""
  const std::string answer =
      exchange(running.address, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", list_services);
  REQUIRE_THAT(answer, Catch::Contains("etcdserverpb.Lease"));
  REQUIRE_THAT(answer, Catch::Contains("grpc.health.v1.Health"));
}

TEST_CASE("reflection describes every service that it lists, gRPC's health service, too") {
  RunningServer running;
  for (const std::string symbol : {"grpc.health.v1.Health", "etcdserverpb.Lease"}) {
    const std::string containing = std::string("\x22") + static_cast<char>(symbol.size()) + symbol;  // field 4
    const std::string answer =
        exchange(running.address, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", containing);
    CAPTURE(symbol);
    CHECK_THAT(answer, Catch::Contains(".proto"));  // the file's descriptor; an error has none
    CHECK_THAT(answer, !Catch::Contains("not found"));
  }
}

TEST_CASE("the inner server serves this process alone, and knows the caller that a loop has passed on, no other") {
  class Asked final : public grpc::CallbackGenericService {
   public:
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
      class Reactor final : public grpc::ServerGenericBidiReactor {
       public:
        explicit Reactor(const Caller& caller) { Finish({grpc::StatusCode::ABORTED, caller.address}); }
        void OnDone() override { delete this; }
      };
      return new Reactor(caller_of(*context));
    }
  } asked;
  const auto server = start_inner_server({}, asked);
  REQUIRE(server.ok());
  grpc::GenericStub stub((*server)->InProcessChannel(channel_arguments()));
  const auto caller_seen = [&](const std::string& metadata) {
    grpc::ClientContext context;
    if (!metadata.empty()) context.AddMetadata(kCallerKey, metadata);
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, "/a.Service/Method", buffer(""), &queue);
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    REQUIRE(queue.Next(&tag, &ok));
    CHECK(status.error_code() == grpc::StatusCode::ABORTED);
    return status.error_message();
  };
  CHECK(caller_seen(encode_caller({Caller::Door::kUnix, "unix:pid=1,uid=2", Caller::Credentials{2, 3, 1}})) ==
        "unix:pid=1,uid=2");
  CHECK(caller_seen("").empty());
  CHECK(caller_seen("no caller").empty());
}

TEST_CASE("an address in use is refused with a sentence, not shared") {
  RunningServer running;
  const auto second = start_grpc_server(running.address, {});
  REQUIRE_FALSE(second.ok());
  REQUIRE(second.status().code() == absl::StatusCode::kAlreadyExists);
  REQUIRE_THAT(std::string(second.status().message()), Catch::Contains("--listen"));
}

}  // namespace ingot
