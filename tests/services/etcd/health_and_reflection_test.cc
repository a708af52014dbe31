// gRPC's own services on a loop: what they answer, and that a server which leaves ends their streams.
#include <google/protobuf/descriptor.pb.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "proto/etcd/rpc.pb.h"
#include "proto/grpc/health.pb.h"
#include "proto/grpc/reflection.pb.h"
#include "services/etcd/health_methods.h"
#include "services/etcd/reflection_methods.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot {
namespace {

namespace hp = ::grpc::health::v1;
namespace rp = ::ingot::reflection;
using Health = hp::HealthCheckResponse;

// The messages of an answer's body.
template <typename Message>
std::vector<Message> messages_in(const std::string& body) {
  std::vector<Message> messages;
  for (std::size_t at = 0; at + 5 <= body.size();) {
    std::size_t bytes = 0;
    for (std::size_t i = 1; i < 5; ++i) bytes = bytes << 8 | static_cast<unsigned char>(body[at + i]);
    Message message;
    REQUIRE(message.ParseFromString(body.substr(at + 5, bytes)));
    messages.push_back(message);
    at += 5 + bytes;
  }
  return messages;
}

struct Serving : rpc::Harness {
  Serving() {
    health.add_to(methods);
    methods.add("/etcdserverpb.KV/Put", {.unary = [](rpc::Call, std::string_view) {}});
    reflection.add_to(methods);
    etcdserverpb::PutRequest::descriptor();  // links the definition
    asker = client();
  }
  ~Serving() { server().end(); }

  std::string about(const std::string& service) {
    hp::HealthCheckRequest request;
    request.set_service(service);
    return rpc::framed(request.SerializeAsString());
  }
  rp::ServerReflectionResponse reflect(const rp::ServerReflectionRequest& request) {
    const auto id = asker->call("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                rpc::framed(request.SerializeAsString()));
    run(*asker);
    CHECK(asker->answer(id).status() == grpc::StatusCode::OK);
    const auto answers = messages_in<rp::ServerReflectionResponse>(asker->answer(id).body);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].original_request().SerializeAsString() == request.SerializeAsString());
    return answers[0];
  }

  etcd::HealthMethods health;
  etcd::ReflectionMethods reflection;
  std::unique_ptr<rpc::RawClient> asker;
};

TEST_CASE("Check says that the server serves, and knows no single service") {
  Serving serving;
  const auto id = serving.asker->call("/grpc.health.v1.Health/Check", serving.about(""));
  const auto unknown = serving.asker->call("/grpc.health.v1.Health/Check", serving.about("etcdserverpb.KV"));
  serving.run(*serving.asker);
  CHECK(serving.asker->answer(id).status() == grpc::StatusCode::OK);
  CHECK(messages_in<Health>(serving.asker->answer(id).body).at(0).status() == Health::SERVING);
  CHECK(serving.asker->answer(unknown).status() == grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("Watch says at once what holds, and that the server leaves") {
  Serving serving;
  const auto id = serving.asker->call("/grpc.health.v1.Health/Watch", serving.about(""));
  const auto unknown = serving.asker->call("/grpc.health.v1.Health/Watch", serving.about("a.Service"));
  const auto half = serving.asker->call("/grpc.health.v1.Health/Watch", "", false);
  serving.run(*serving.asker);
  CHECK(messages_in<Health>(serving.asker->answer(unknown).body).at(0).status() == Health::SERVICE_UNKNOWN);
  CHECK_FALSE(serving.asker->answer(id).ended);
  serving.health.drain();
  serving.run(*serving.asker);
  const auto told = messages_in<Health>(serving.asker->answer(id).body);
  REQUIRE(told.size() == 2);
  CHECK(told[0].status() == Health::SERVING);
  CHECK(told[1].status() == Health::NOT_SERVING);
  for (const auto each : {id, unknown, half}) {
    CHECK(serving.asker->answer(each).status() == grpc::StatusCode::UNAVAILABLE);
  }
}

TEST_CASE("reflection lists the services whose methods there are") {
  Serving serving;
  rp::ServerReflectionRequest request;
  request.set_list_services("");
  const auto answer = serving.reflect(request);
  std::vector<std::string> names;
  for (const auto& each : answer.list_services_response().service()) names.push_back(each.name());
  CHECK(names == std::vector<std::string>{"etcdserverpb.KV", "grpc.health.v1.Health",
                                          "grpc.reflection.v1alpha.ServerReflection", "t.T"});
}

TEST_CASE("reflection gives the file of a symbol, with all that it imports, and a file by its name") {
  Serving serving;
  rp::ServerReflectionRequest request;
  for (const char* symbol : {"etcdserverpb.KV", "etcdserverpb.KV.Put", "etcdserverpb.PutRequest",
                             "etcdserverpb.PutRequest.key", "etcdserverpb.WatchCreateRequest.FilterType"}) {
    CAPTURE(symbol);
    request.set_file_containing_symbol(symbol);
    const auto answer = serving.reflect(request);
    const auto& files = answer.file_descriptor_response().file_descriptor_proto();
    REQUIRE(files.size() > 1);
    google::protobuf::FileDescriptorProto first;
    REQUIRE(first.ParseFromString(files[0]));
    CHECK(first.name() == "proto/etcd/rpc.proto");
  }
  request.set_file_by_filename("proto/etcd/kv.proto");
  CHECK(serving.reflect(request).file_descriptor_response().file_descriptor_proto_size() == 1);
}

TEST_CASE("reflection says what it does not know, and goes on") {
  Serving serving;
  rp::ServerReflectionRequest request;
  const auto code = [&] { return serving.reflect(request).error_response().error_code(); };
  request.set_file_containing_symbol("no.such.Symbol");
  CHECK(code() == grpc::StatusCode::NOT_FOUND);
  request.set_file_by_filename("../etc/passwd");
  CHECK(code() == grpc::StatusCode::NOT_FOUND);
  request.mutable_file_containing_extension()->set_containing_type("etcdserverpb.PutRequest");
  CHECK(code() == grpc::StatusCode::NOT_FOUND);
  request.set_all_extension_numbers_of_type("no.such.Type");
  CHECK(code() == grpc::StatusCode::NOT_FOUND);
  request.set_all_extension_numbers_of_type("etcdserverpb.PutRequest");
  CHECK(serving.reflect(request).all_extension_numbers_response().base_type_name() == "etcdserverpb.PutRequest");
  request.Clear();
  CHECK(code() == grpc::StatusCode::UNIMPLEMENTED);
}

TEST_CASE("a client that takes no answers of reflection is not read, so little is kept for it") {
  Serving serving;
  rp::ServerReflectionRequest request;
  request.set_file_containing_symbol("etcdserverpb.KV");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += rpc::framed(request.SerializeAsString());
  const auto id =
      serving.asker->call("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", many, /*end=*/false);
  serving.asker->read_nothing(true);
  for (int i = 0; i < 50; ++i) serving.run(*serving.asker);
  CHECK(serving.server().held_bytes() < 1024 * 1024);
  serving.reflection.drain();
  serving.asker->read_nothing(false);
  serving.run(*serving.asker);
  CHECK(serving.asker->answer(id).status() == grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ingot
