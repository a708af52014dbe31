// Calls of Lock: who gets a lock and when, what is left of a call that ends without it, and etcd's errors.
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "replication/store/api.h"
#include "tests/services/locks/lock_client.h"

namespace ingot {
namespace {

void check_error(const grpc::Status& status, grpc::StatusCode code, const std::string& text) {
  CHECK(status.error_code() == code);
  CHECK(status.error_message() == text);
}

TEST_CASE("A lock is a key of its lease, and the same lease gets it again") {
  LockClient client;
  const auto first = client.lock("a", 10)->wait();
  REQUIRE(first.status.ok());
  CHECK(first.response.key() == "a/a");
  CHECK(first.response.header().revision() == 2);
  CHECK(first.response.header().member_id() == 34);
  CHECK(client.create_revision("a/a") == 2);
  const auto again = client.lock("a", 10)->wait();
  REQUIRE(again.status.ok());
  CHECK(again.response.key() == "a/a");
  CHECK(again.response.header().revision() == 2);
  const auto other = client.lock("", 10)->wait();  // another lock: its keys begin with "/"
  REQUIRE(other.status.ok());
  CHECK(other.response.key() == "/a");
  CHECK(client.unlock("a/a").response.header().revision() == 4);
  CHECK(client.create_revision("a/a") == 0);
  CHECK(client.unlock("a/a").response.header().revision() == 4);
}

TEST_CASE("Those who wait for a lock get it in the order in which they came") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  auto second = client.lock("a", 11);
  client.await_key("a/b", true);
  auto third = client.lock("a", 12);
  client.await_key("a/c", true);
  CHECK(!second->ended());
  client.unlock("a/a");
  const auto got = second->wait();
  REQUIRE(got.status.ok());
  CHECK(got.response.key() == "a/b");
  CHECK(got.response.header().revision() == 5);
  CHECK(!third->ended());
  client.revoke(11);  // its key goes with the lease
  CHECK(third->wait().response.key() == "a/c");
}

TEST_CASE("A call that is given up while it waits takes its key away, and those behind it wait for the holder") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  auto given_up = client.lock("a", 11);
  client.await_key("a/b", true);
  auto behind = client.lock("a", 12);
  client.await_key("a/c", true);
  given_up->cancel();
  CHECK(given_up->wait().status.error_code() == grpc::StatusCode::CANCELLED);
  client.await_key("a/b", false);
  CHECK(client.create_revision("a/a") == 2);
  CHECK(!behind->ended());
  client.unlock("a/a");
  CHECK(behind->wait().status.ok());
}

TEST_CASE("A call whose deadline passes while it waits takes its key away") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  v3lockpb::LockRequest request;
  request.set_name("a");
  request.set_lease(11);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  v3lockpb::LockResponse response;
  CHECK(client.locks->Lock(&context, request, &response).error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  client.await_key("a/b", false);
  CHECK(client.create_revision("a/a") == 2);
}

TEST_CASE("A call whose lease ends while it waits does not get the lock") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  auto waits = client.lock("a", 11);
  client.await_key("a/b", true);
  client.revoke(11);
  client.unlock("a/a");
  check_error(waits->wait().status, grpc::StatusCode::UNKNOWN, "mutex: session is expired");
}

// A key that is entered again has another place, behind others for which the first call has not waited.
TEST_CASE("A call whose key was taken away and entered again does not get the lock before those between") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  auto first = client.lock("a", 11);
  client.await_key("a/b", true);
  client.unlock("a/b");
  auto between = client.lock("a", 12);
  client.await_key("a/c", true);
  auto again = client.lock("a", 11);
  client.await_key("a/b", true);
  client.unlock("a/a");
  check_error(first->wait().status, grpc::StatusCode::UNKNOWN, "mutex: session is expired");
  CHECK(between->wait().status.ok());
  CHECK(!again->ended());
  client.unlock("a/c");
  CHECK(again->wait().status.ok());
}

TEST_CASE("A call without a lease is granted one of a minute, which outlives the call") {
  LockClient client;
  const auto got = client.lock("a", 0)->wait();
  REQUIRE(got.status.ok());
  etcdserverpb::RangeRequest request;
  request.set_key(got.response.key());
  const auto found =
      client.ask(*client.keys, &etcdserverpb::KV::Stub::Range, request, etcdserverpb::RangeResponse());
  REQUIRE(found.response.kvs_size() == 1);
  etcdserverpb::LeaseTimeToLiveRequest asked;
  asked.set_id(found.response.kvs(0).lease());
  const auto lease = client.ask(*client.leases, &etcdserverpb::Lease::Stub::LeaseTimeToLive, asked,
                                etcdserverpb::LeaseTimeToLiveResponse());
  CHECK(lease.response.grantedttl() == 60);
}

TEST_CASE("A compaction while a call waits does not end it") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  auto waits = client.lock("a", 11);
  client.await_key("a/b", true);
  for (int i = 0; i < 10; ++i) {
    etcdserverpb::PutRequest put;
    put.set_key("other");
    client.ask(*client.keys, &etcdserverpb::KV::Stub::Put, put, etcdserverpb::PutResponse());
    etcdserverpb::CompactionRequest compact;
    compact.set_revision(4 + i);
    REQUIRE(client.ask(*client.keys, &etcdserverpb::KV::Stub::Compact, compact, etcdserverpb::CompactionResponse())
                .status.ok());
  }
  client.unlock("a/a");
  CHECK(waits->wait().status.ok());
}

TEST_CASE("Errors of a lock are etcd's, which has no codes for them") {
  LockClient client;
  const auto unknown = grpc::StatusCode::UNKNOWN;
  check_error(client.lock("a", 77)->wait().status, unknown, "etcdserver: requested lease not found");
  check_error(client.lock("a", -5)->wait().status, unknown, "etcdserver: requested lease not found");
  check_error(client.unlock("").status, unknown, "etcdserver: key is not provided");
  check_error(client.lock(std::string(2'000'000, 'a'), 10)->wait().status, unknown,
              "etcdserver: request is too large");
}

TEST_CASE("That nothing was decided has its own code") {
  LockClient client;
  client.server->client.set_outcome(ReplicaReply::Outcome::kUnknown);
  check_error(client.lock("a", 10)->wait().status, grpc::StatusCode::UNAVAILABLE, "etcdserver: request timed out");
  check_error(client.unlock("a/a").status, grpc::StatusCode::UNAVAILABLE, "etcdserver: request timed out");
}

TEST_CASE("A server that ends ends the calls that wait") {
  LockClient client;
  REQUIRE(client.lock("a", 10)->wait().status.ok());
  auto waits = client.lock("a", 11);
  client.await_key("a/b", true);
  client.server.reset();
  CHECK(waits->wait().status.error_code() == grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ingot
