// Calls about leases: etcd's errors, what the answers hold, and streams of keep-alives, which are answered in order.
#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <vector>

#include "replication/store/limits.h"
#include "tests/services/etcd/in_process_server.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;

void check_error(const grpc::Status& status, grpc::StatusCode code, const std::string& text) {
  CHECK(status.error_code() == code);
  CHECK(status.error_message() == text);
}

// A server, and one client of it.
struct Client {
  std::pair<grpc::Status, pb::LeaseGrantResponse> grant(std::int64_t id, std::int64_t ttl) {
    pb::LeaseGrantRequest request;
    request.set_id(id);
    request.set_ttl(ttl);
    return ask(&pb::Lease::Stub::LeaseGrant, request, pb::LeaseGrantResponse());
  }
  std::pair<grpc::Status, pb::LeaseRevokeResponse> revoke(std::int64_t id) {
    pb::LeaseRevokeRequest request;
    request.set_id(id);
    return ask(&pb::Lease::Stub::LeaseRevoke, request, pb::LeaseRevokeResponse());
  }
  pb::LeaseTimeToLiveResponse time_to_live(std::int64_t id) {
    pb::LeaseTimeToLiveRequest request;
    request.set_id(id);
    request.set_keys(true);
    const auto [status, response] = ask(&pb::Lease::Stub::LeaseTimeToLive, request, pb::LeaseTimeToLiveResponse());
    REQUIRE(status.ok());
    return response;
  }
  template <typename Method, typename Request, typename Response>
  std::pair<grpc::Status, Response> ask(Method method, const Request& request, Response response) {
    grpc::ClientContext context;
    const grpc::Status status = (stub.get()->*method)(&context, request, &response);
    return {status, response};
  }

  InProcessServer server;
  std::unique_ptr<pb::Lease::Stub> stub = pb::Lease::NewStub(server.connect());
};

// A stream of keep-alives.
class Stream {
 public:
  explicit Stream(pb::Lease::Stub& stub) : stream_(stub.LeaseKeepAlive(&context_)) {}

  void ask(std::int64_t id) {
    pb::LeaseKeepAliveRequest request;
    request.set_id(id);
    REQUIRE(stream_->Write(request));
  }
  pb::LeaseKeepAliveResponse next() {
    pb::LeaseKeepAliveResponse response;
    REQUIRE(stream_->Read(&response));
    return response;
  }
  grpc::Status end() {
    stream_->WritesDone();
    return stream_->Finish();
  }
  grpc::Status finish() { return stream_->Finish(); }
  void close() { stream_->WritesDone(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>> stream_;
};

TEST_CASE("A lease is granted, shown and revoked, with etcd's errors") {
  Client client;
  const auto [granted, lease] = client.grant(7, 100);
  REQUIRE(granted.ok());
  CHECK(lease.id() == 7);
  CHECK(lease.ttl() == 100);
  CHECK(lease.header().revision() == 1);
  check_error(client.grant(7, 100).first, grpc::StatusCode::FAILED_PRECONDITION, "etcdserver: lease already exists");
  check_error(client.grant(8, kLeaseTtlMaxS + 1).first, grpc::StatusCode::OUT_OF_RANGE,
              "etcdserver: too large lease TTL");
  CHECK(client.grant(8, 0).second.ttl() == kLeaseTtlMinS);
  kv::PutRequest put{.key = "a", .value = "1"};
  put.lease = 7;
  client.server.client.apply(put);
  const pb::LeaseTimeToLiveResponse live = client.time_to_live(7);
  CHECK(live.id() == 7);
  CHECK(live.grantedttl() == 100);
  CHECK(live.ttl() == 99);
  REQUIRE(live.keys_size() == 1);
  CHECK(live.keys(0) == "a");
  const auto [listed, leases] =
      client.ask(&pb::Lease::Stub::LeaseLeases, pb::LeaseLeasesRequest(), pb::LeaseLeasesResponse());
  REQUIRE(listed.ok());
  REQUIRE(leases.leases_size() == 2);
  CHECK(leases.leases(0).id() == 8);  // it ends first
  const auto [revoked, gone] = client.revoke(7);
  REQUIRE(revoked.ok());
  CHECK(gone.header().revision() == 3);
  check_error(client.revoke(7).first, grpc::StatusCode::NOT_FOUND, "etcdserver: requested lease not found");
  CHECK(client.time_to_live(7).ttl() == -1);
  CHECK(client.server.client.leader().live_keys() == 0);
}

TEST_CASE("The server draws the id of a lease that comes without one: positive, and another one each time") {
  Client client;
  const std::int64_t one = client.grant(0, 10).second.id(), other = client.grant(0, 10).second.id();
  CHECK(one > 0);
  CHECK(other > 0);
  CHECK(one != other);
}

TEST_CASE("Keep-alives are answered in their order, those of an unknown lease with a TTL of 0") {
  Client client;
  for (std::int64_t id = 1; id <= 50; ++id) client.grant(id, 10 + id);
  Stream stream(*client.stub);
  constexpr std::int64_t kAsked = 3'000;  // more than one command takes
  std::thread asks([&] {
    for (std::int64_t i = 0; i < kAsked; ++i) stream.ask(1 + i % 60);
    stream.close();
  });
  for (std::int64_t i = 0; i < kAsked; ++i) {
    const pb::LeaseKeepAliveResponse response = stream.next();
    const std::int64_t id = 1 + i % 60;
    if (response.id() != id || response.ttl() != (id <= 50 ? 10 + id : 0)) FAIL("answer " << i);
    CHECK(response.header().revision() == 1);
  }
  asks.join();
  CHECK(stream.finish().ok());
}

TEST_CASE("A stream that the client ends without a keep-alive ends with OK") {
  Client client;
  CHECK(Stream(*client.stub).end().ok());
}

TEST_CASE("Streams of several clients are served together, and one that is given up leaves the others alone") {
  Client client;
  client.grant(1, 10);
  auto given_up = std::make_unique<Stream>(*client.stub);
  Stream stays(*client.stub);
  for (int i = 0; i < 100; ++i) {
    given_up->ask(1);
    stays.ask(1);
  }
  CHECK(given_up->next().ttl() == 10);
  for (int i = 0; i < 100; ++i) CHECK(stays.next().ttl() == 10);
  stays.ask(1);
  CHECK(stays.next().ttl() == 10);
  CHECK(stays.end().ok());
  for (int i = 1; i < 100; ++i) CHECK(given_up->next().ttl() == 10);
  CHECK(given_up->end().ok());
}

TEST_CASE("A stream whose keep-alive has no answer ends with the reason") {
  Client client;
  client.server.client.set_outcome(ReplicaReply::Outcome::kUnknown);
  Stream silent(*client.stub);
  silent.ask(1);
  check_error(silent.finish(), grpc::StatusCode::UNAVAILABLE, "etcdserver: request timed out");
  client.server.client.set_outcome(ReplicaReply::Outcome::kOverloaded);
  Stream refused(*client.stub);
  refused.ask(1);
  check_error(refused.finish(), grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests");
  client.server.client.set_outcome(ReplicaReply::Outcome::kOk);
  Stream next(*client.stub);
  next.ask(1);
  CHECK(next.next().ttl() == 0);
  CHECK(next.end().ok());
}

TEST_CASE("Answers of silence and of the alarm reach the caller of a grant") {
  Client client;
  client.server.client.set_outcome(ReplicaReply::Outcome::kUnknown);
  check_error(client.grant(1, 10).first, grpc::StatusCode::UNAVAILABLE, "etcdserver: request timed out");
  client.server.client.set_outcome(ReplicaReply::Outcome::kOk);
  client.server.client.apply(kv::AlarmRequest{kv::AlarmRequest::Action::kActivate});
  check_error(client.grant(1, 10).first, grpc::StatusCode::RESOURCE_EXHAUSTED,
              "etcdserver: mvcc: database space exceeded");
}

}  // namespace
}  // namespace ingot
