// Single calls: the errors that clients get when replicas are silent or busy or a feature is missing, and clients that
// disconnect in the middle.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "replication/store/limits.h"
#include "tests/services/etcd/in_process_server.h"
#include "tests/services/etcd/single_calls.h"

namespace ingot {
namespace {

TEST_CASE("Overload and a block mean that nothing was done, silence means an unknown outcome") {
  InProcessServer server;
  auto stub = pb::KV::NewStub(server.connect());
  pb::PutResponse response;
  server.client.set_outcome(ReplicaReply::Outcome::kOverloaded);
  check_error(call(*stub, &pb::KV::Stub::Put, put_request("k", "v"), response),
              grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests");
  server.client.set_outcome(ReplicaReply::Outcome::kBlocked, "replica 0 is blocked: it waits");
  check_error(call(*stub, &pb::KV::Stub::Put, put_request("k", "v"), response), grpc::StatusCode::UNAVAILABLE,
              "nothing was done: replica 0 is blocked: it waits");
  server.client.set_outcome(ReplicaReply::Outcome::kUnknown);
  check_error(call(*stub, &pb::KV::Stub::Put, put_request("k", "v"), response), grpc::StatusCode::UNAVAILABLE,
              "etcdserver: request timed out");
  pb::RangeRequest range;
  range.set_key("k");
  pb::RangeResponse found;
  check_error(call(*stub, &pb::KV::Stub::Range, range, found), grpc::StatusCode::UNAVAILABLE,
              "etcdserver: request timed out");
}

TEST_CASE("The largest request is taken, a larger one is refused in etcd's words") {
  InProcessServer server;
  auto stub = pb::KV::NewStub(server.connect());
  pb::PutResponse response;
  const kv::Request empty_put = kv::PutRequest{.key = "k", .value = ""};
  const std::size_t value_bytes_max = kRequestBytesMax - kv::encode(empty_put).size();
  CHECK(call(*stub, &pb::KV::Stub::Put, put_request("k", std::string(value_bytes_max, 'x')), response).ok());
  check_error(call(*stub, &pb::KV::Stub::Put, put_request("k", std::string(value_bytes_max + 1, 'x')), response),
              grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: request is too large");
  const std::string beyond(rpc::kGrpcReceiveBytesMax + 1, 'x');
  CHECK(call(*stub, &pb::KV::Stub::Put, put_request("k", beyond), response).error_code() ==
        grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(server.client.leader().revision() == 2);
}

// A deletion was told to use limit, which only a range has.
TEST_CASE("What helps against an answer that is too long is said in the request's own terms, and helps") {
  InProcessServer server;
  auto stub = pb::KV::NewStub(server.connect());
  constexpr std::size_t kValueBytes = 1 << 20;
  const auto key = [](std::size_t i) { return "k" + std::to_string(i); };
  for (std::size_t i = 0; i <= kResultBytesMax / kValueBytes; ++i) {
    server.client.apply(kv::PutRequest{.key = key(i), .value = std::string(kValueBytes, 'x')});
  }
  const std::string refused = "the answer would be longer than 3145728 bytes, so nothing was done; ";
  pb::RangeRequest range;
  range.set_key("k");
  range.set_range_end("l");
  pb::DeleteRangeRequest deletion;
  deletion.set_key("k");
  deletion.set_range_end("l");
  deletion.set_prev_kv(true);
  pb::DeleteRangeResponse deleted;
  pb::TxnRequest reading, deleting;
  *reading.add_success()->mutable_request_range() = range;
  *deleting.add_success()->mutable_request_delete_range() = deletion;
  pb::TxnResponse done;

  const std::string of_txn = "let its ranges and its deletions with prev_kv return fewer keys, or split it";
  for (const pb::TxnRequest& txn : {reading, deleting}) {
    check_error(call(*stub, &pb::KV::Stub::Txn, txn, done), grpc::StatusCode::RESOURCE_EXHAUSTED, refused + of_txn);
  }
  check_error(call(*stub, &pb::KV::Stub::DeleteRange, deletion, deleted), grpc::StatusCode::RESOURCE_EXHAUSTED,
              refused + "delete fewer keys at once, or without prev_kv");

  reading.mutable_success(0)->mutable_request_range()->set_limit(2);
  CHECK(call(*stub, &pb::KV::Stub::Txn, reading, done).ok());
  deleting.mutable_success(0)->mutable_request_delete_range()->set_range_end("k1");
  CHECK(call(*stub, &pb::KV::Stub::Txn, deleting, done).ok());
  deletion.set_range_end("k2");
  CHECK(call(*stub, &pb::KV::Stub::DeleteRange, deletion, deleted).ok());
  CHECK(deleted.prev_kvs_size() == 1);
  deletion.set_range_end("l");
  deletion.set_prev_kv(false);
  REQUIRE(call(*stub, &pb::KV::Stub::DeleteRange, deletion, deleted).ok());
  CHECK(deleted.deleted() == 2);
}

TEST_CASE("Transactions that nest too deep and enumerators that do not exist are refused") {
  InProcessServer server;
  auto stub = pb::KV::NewStub(server.connect());
  pb::TxnRequest deep;
  pb::TxnRequest* inner = &deep;
  for (int depth = 1; depth <= kTxnDepthMax; ++depth) inner = inner->add_success()->mutable_request_txn();
  *inner->add_success()->mutable_request_put() = put_request("k", "v");
  pb::TxnResponse response;
  check_error(call(*stub, &pb::KV::Stub::Txn, deep, response), grpc::StatusCode::INVALID_ARGUMENT,
              "etcdserver: too many operations in txn request");

  pb::TxnRequest strange;
  strange.add_compare()->set_key("k");
  strange.mutable_compare(0)->set_result(static_cast<pb::Compare::CompareResult>(17));
  CHECK(call(*stub, &pb::KV::Stub::Txn, strange, response).error_code() == grpc::StatusCode::INVALID_ARGUMENT);

  pb::RangeRequest unsortable;
  unsortable.set_key("k");
  unsortable.set_sort_target(static_cast<pb::RangeRequest::SortTarget>(17));
  pb::RangeResponse found;
  check_error(call(*stub, &pb::KV::Stub::Range, unsortable, found), grpc::StatusCode::INVALID_ARGUMENT,
              "etcdserver: invalid sort option");
  CHECK(server.client.leader().revision() == 1);
}

// Holds the client's loop at the first request until open() is called.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_until_somebody_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waiting_ = false, open_ = false;
};

TEST_CASE("A client that cancels in the middle affects no other, and its write still happens") {
  InProcessServer server;
  Gate gate;
  server.client.set_interloper([&](RequestKind) { gate.pass(); });
  {
    auto leaver = pb::KV::NewStub(server.connect());
    grpc::ClientContext context;
    grpc::Status status;
    std::thread caller([&] {
      pb::PutResponse response;
      status = leaver->Put(&context, put_request("k", "v"), &response);
    });
    gate.wait_until_somebody_waits();
    context.TryCancel();
    caller.join();
    CHECK(status.error_code() == grpc::StatusCode::CANCELLED);
  }  // the connection is gone, too
  gate.open();

  auto stub = pb::KV::NewStub(server.connect());
  pb::RangeRequest range;
  range.set_key("k");
  pb::RangeResponse response;
  REQUIRE(call(*stub, &pb::KV::Stub::Range, range, response).ok());
  REQUIRE(response.kvs_size() == 1);
  CHECK(response.kvs(0).value() == "v");
}

TEST_CASE("A range whose caller has gone stops between two pages") {
  InProcessServer server;
  constexpr int kValues = 20;
  for (int i = 0; i < kValues; ++i) {  // one a page
    server.client.apply(kv::PutRequest{.key = "k" + std::to_string(i), .value = std::string(kPageBytesMax, 'x')});
  }
  Gate gate;
  std::atomic<int> pages = 0;
  server.client.set_interloper([&](RequestKind) {
    ++pages;
    gate.pass();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // time for gRPC to notice, on a machine with few cores
  });
  const auto channel = server.connect();
  auto stub = pb::KV::NewStub(channel);
  pb::RangeRequest range;
  range.set_key("k");
  range.set_range_end("l");
  grpc::ClientContext context;
  grpc::Status status;
  std::thread caller([&] {
    pb::RangeResponse response;
    status = stub->Range(&context, range, &response);
  });
  gate.wait_until_somebody_waits();
  context.TryCancel();
  caller.join();
  CHECK(status.error_code() == grpc::StatusCode::CANCELLED);
  // The connection carries this call, which needs no loop, after the cancellation: once it is answered the server has
  // read the cancellation.
  pb::StatusResponse behind;
  REQUIRE(call(*pb::Maintenance::NewStub(channel), &pb::Maintenance::Stub::Status, pb::StatusRequest(), behind).ok());
  gate.open();

  pb::RangeRequest other;  // answered when the loop has finished the first
  other.set_key("nothing");
  pb::RangeResponse response;
  int pages_before = 0;
  do {
    pages_before = pages;
    REQUIRE(call(*stub, &pb::KV::Stub::Range, other, response).ok());
  } while (pages > pages_before + 1);  // more than the other call: more pages of the first call came
  CHECK(pages < kValues);
}

TEST_CASE("Calls that are not implemented are refused with a sentence") {
  InProcessServer server;
  const auto channel = server.connect();
  const auto check_missing = [](const grpc::Status& status) {
    CHECK(status.error_code() == grpc::StatusCode::UNIMPLEMENTED);
    CHECK(status.error_message().starts_with("Ingot "));
  };
  auto cluster = pb::Cluster::NewStub(channel);
  pb::MemberAddResponse added;
  check_missing(call(*cluster, &pb::Cluster::Stub::MemberAdd, pb::MemberAddRequest(), added));

  auto maintenance = pb::Maintenance::NewStub(channel);
  grpc::ClientContext snapshot_context;
  check_missing(maintenance->Snapshot(&snapshot_context, pb::SnapshotRequest())->Finish());

  auto auth = pb::Auth::NewStub(channel);
  pb::AuthenticateResponse authenticated;
  check_error(call(*auth, &pb::Auth::Stub::Authenticate, pb::AuthenticateRequest(), authenticated),
              grpc::StatusCode::FAILED_PRECONDITION, "etcdserver: authentication is not enabled");
}

TEST_CASE("The daemon is the only member") {
  InProcessServer server;
  auto stub = pb::Cluster::NewStub(server.connect());
  pb::MemberListResponse response;
  REQUIRE(call(*stub, &pb::Cluster::Stub::MemberList, pb::MemberListRequest(), response).ok());
  REQUIRE(response.members_size() == 1);
  CHECK(response.members(0).id() == server.config.member_id);
  CHECK(response.members(0).name() == "test");
  REQUIRE(response.members(0).clienturls_size() == 1);
  CHECK(response.members(0).clienturls(0) == "http://" + server.config.listen);
  CHECK(response.header().revision() == 0);  // etcd's says none
}

TEST_CASE("A linearizable list of members waits until the group decides, and other members are not found") {
  InProcessServer server;
  auto stub = pb::Cluster::NewStub(server.connect());
  pb::MemberListRequest list;
  list.set_linearizable(true);
  pb::MemberListResponse members;
  int asked = 0;
  server.client.set_interloper([&](RequestKind kind) { asked += kind == RequestKind::kLinearizableQuery ? 1 : 0; });
  REQUIRE(call(*stub, &pb::Cluster::Stub::MemberList, list, members).ok());
  CHECK(members.members_size() == 1);
  CHECK(asked == 1);
  server.client.set_outcome(ReplicaReply::Outcome::kUnknown);
  check_error(call(*stub, &pb::Cluster::Stub::MemberList, list, members), grpc::StatusCode::UNAVAILABLE,
              "etcdserver: request timed out");

  pb::MemberRemoveRequest remove;
  remove.set_id(99);
  pb::MemberRemoveResponse removed;
  check_error(call(*stub, &pb::Cluster::Stub::MemberRemove, remove, removed), grpc::StatusCode::NOT_FOUND,
              "etcdserver: member not found");
  pb::MemberPromoteRequest promote;
  promote.set_id(server.config.member_id);
  pb::MemberPromoteResponse promoted;
  check_error(call(*stub, &pb::Cluster::Stub::MemberPromote, promote, promoted),
              grpc::StatusCode::FAILED_PRECONDITION, "etcdserver: can only promote a learner member");
}

}  // namespace
}  // namespace ingot
