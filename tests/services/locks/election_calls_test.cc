// Calls of Election: who leads and when, what observers are told, and etcd's errors.
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "tests/services/locks/lock_client.h"

namespace ingot {
namespace {

namespace ep = v3electionpb;

void check_error(const grpc::Status& status, grpc::StatusCode code, const std::string& text) {
  CHECK(status.error_code() == code);
  CHECK(status.error_message() == text);
}

ep::LeaderKey key_of(const std::string& name, const std::string& key, std::int64_t rev, std::int64_t lease) {
  ep::LeaderKey leader;
  leader.set_name(name);
  leader.set_key(key);
  leader.set_rev(rev);
  leader.set_lease(lease);
  return leader;
}

// A stream of Observe.
class Observed {
 public:
  Observed(ep::Election::Stub& stub, const std::string& name) {
    ep::LeaderRequest request;
    request.set_name(name);
    stream_ = stub.Observe(&context_, request);
  }
  ~Observed() {
    context_.TryCancel();
    stream_->Finish();
  }
  // "KEY=VALUE at REVISION", the key's newest.
  std::string next() {
    ep::LeaderResponse response;
    if (!stream_->Read(&response)) return "the stream has ended";
    CHECK(response.header().revision() >= response.kv().mod_revision());
    return response.kv().key() + "=" + response.kv().value() + " at " + std::to_string(response.kv().mod_revision());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<ep::LeaderResponse>> stream_;
};

TEST_CASE("A candidate leads with its value, changes it, and resigns") {
  LockClient client;
  const auto won = client.campaign("e", 10, "v")->wait();
  REQUIRE(won.status.ok());
  CHECK(won.response.header().revision() == 2);
  CHECK(won.response.leader().SerializeAsString() == key_of("e", "e/a", 2, 10).SerializeAsString());
  const auto again = client.campaign("e", 10, "w")->wait();  // proclaims
  CHECK(again.response.header().revision() == 2);
  CHECK(again.response.leader().rev() == 2);
  const auto leader = client.leader("e");
  REQUIRE(leader.status.ok());
  CHECK(leader.response.header().revision() == 3);
  CHECK(leader.response.kv().value() == "w");
  CHECK(leader.response.kv().create_revision() == 2);
  CHECK(leader.response.kv().lease() == 10);
  CHECK(client.proclaim(won.response.leader(), "x").response.header().revision() == 4);
  CHECK(client.leader("e").response.kv().value() == "x");
  CHECK(client.resign(won.response.leader()).response.header().revision() == 5);
  check_error(client.leader("e").status, grpc::StatusCode::UNKNOWN, "election: no leader");
  CHECK(client.resign(won.response.leader()).response.header().revision() == 5);
}

TEST_CASE("Candidates lead in the order in which they came, and one that is given up takes its key away") {
  LockClient client;
  const auto first = client.campaign("e", 10, "one")->wait();
  auto given_up = client.campaign("e", 11, "two");
  client.await_key("e/b", true);
  auto third = client.campaign("e", 12, "three");
  client.await_key("e/c", true);
  CHECK(!given_up->ended());
  given_up->cancel();
  client.await_key("e/b", false);
  CHECK(!third->ended());
  client.resign(first.response.leader());
  const auto won = third->wait();
  REQUIRE(won.status.ok());
  CHECK(won.response.leader().rev() == 4);
  CHECK(won.response.header().revision() == 4);
  CHECK(client.leader("e").response.kv().value() == "three");
}

TEST_CASE("A candidate whose lease ends while it waits does not lead") {
  LockClient client;
  const auto first = client.campaign("e", 10, "one")->wait();
  auto waits = client.campaign("e", 11, "two");
  client.await_key("e/b", true);
  client.revoke(11);
  client.resign(first.response.leader());
  check_error(waits->wait().status, grpc::StatusCode::UNKNOWN, "election: not leader");
}

TEST_CASE("An observer is told the leader, its values in order, and the next leaders") {
  LockClient client;
  Observed from_begin(*client.elections, "e");
  const auto first = client.campaign("e", 10, "one")->wait();
  CHECK(from_begin.next() == "e/a=one at 2");
  Observed later(*client.elections, "e");
  CHECK(later.next() == "e/a=one at 2");
  auto second = client.campaign("e", 11, "two");
  client.await_key("e/b", true);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(client.proclaim(first.response.leader(), "value" + std::to_string(i)).status.ok());
  }
  for (int i = 0; i < 20; ++i) {
    const std::string told = "e/a=value" + std::to_string(i) + " at " + std::to_string(4 + i);
    CHECK(from_begin.next() == told);
    CHECK(later.next() == told);
  }
  client.resign(first.response.leader());
  REQUIRE(second->wait().status.ok());
  CHECK(from_begin.next() == "e/b=two at 3");
  CHECK(later.next() == "e/b=two at 3");
  client.resign(second->wait().response.leader());
  REQUIRE(client.campaign("e", 12, "three")->wait().status.ok());
  CHECK(from_begin.next() == "e/c=three at 26");
}

TEST_CASE("Errors of an election are etcd's, which has no codes for them") {
  LockClient client;
  const auto unknown = grpc::StatusCode::UNKNOWN;
  check_error(client.campaign("e", 77, "v")->wait().status, unknown, "etcdserver: requested lease not found");
  REQUIRE(client.campaign("e", 10, "v")->wait().status.ok());
  check_error(client.proclaim(key_of("e", "e/a", 1, 10), "w").status, unknown, "election: not leader");
  check_error(client.proclaim(key_of("e", "e/a", 2, 77), "w").status, unknown,
              "etcdserver: requested lease not found");
  check_error(client.proclaim(ep::LeaderKey(), "w").status, unknown, "etcdserver: key is not provided");
  check_error(client.resign(ep::LeaderKey()).status, unknown, "etcdserver: key is not provided");
  CHECK(client.resign(key_of("e", "e/a", 1, 10)).status.ok());  // as etcd: nothing is done
  CHECK(client.create_revision("e/a") == 2);
  const auto no_leader = LockClient::ask(*client.elections, &ep::Election::Stub::Proclaim, ep::ProclaimRequest(),
                                         ep::ProclaimResponse());
  check_error(no_leader.status, unknown, "\"leader\" field must be provided");
  const auto nobody =
      LockClient::ask(*client.elections, &ep::Election::Stub::Resign, ep::ResignRequest(), ep::ResignResponse());
  check_error(nobody.status, unknown, "\"leader\" field must be provided");
}

}  // namespace
}  // namespace ingot
