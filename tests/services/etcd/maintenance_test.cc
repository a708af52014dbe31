// Maintenance: the status, the alarm of a full store, and hashes.
#include <memory>
#include <string>
#include <vector>

#include "tests/services/etcd/in_process_server.h"
#include "tests/services/etcd/single_calls.h"

namespace ingot {
namespace {

TEST_CASE("Status is read from the replicas' pages") {
  InProcessServer server;
  auto stub = pb::Maintenance::NewStub(server.connect());
  pb::StatusResponse response;
  REQUIRE(call(*stub, &pb::Maintenance::Stub::Status, pb::StatusRequest(), response).ok());
  CHECK(response.leader() == 0);
  REQUIRE(response.errors_size() == 1);
  CHECK(response.errors(0) == "etcdserver: no leader");
  CHECK(response.raftterm() == 1);

  ReplicaPage& page = *server.pages[1];
  page[ReplicaCounter::kRole].set(static_cast<std::uint64_t>(Role::kLeader));
  page[ReplicaCounter::kBallot].set(7);
  page[ReplicaCounter::kDecidedSlots].set(100);
  page[ReplicaCounter::kAppliedSlots].set(90);
  page[ReplicaCounter::kStoreRevision].set(55);
  page[ReplicaCounter::kStoreLiveBytes].set(4000);
  page[ReplicaCounter::kStoreHistoryBytes].set(96);
  page[ReplicaCounter::kStoreNoSpace].set(1);
  (*server.pages[0])[ReplicaCounter::kStoreLiveBytes].set(10'000);  // it lags, and has not compacted yet
  response.Clear();
  REQUIRE(call(*stub, &pb::Maintenance::Stub::Status, pb::StatusRequest(), response).ok());
  CHECK(response.header().revision() == 55);
  CHECK(response.header().raft_term() == 7);
  CHECK(response.leader() == server.config.member_id);
  REQUIRE(response.errors_size() == 1);
  CHECK(response.errors(0) == "memberID:34 alarm:NOSPACE ");  // as etcd writes it
  CHECK(response.raftindex() == 100);
  CHECK(response.raftappliedindex() == 90);
  CHECK(response.dbsize() == 4096);
  CHECK(response.version() == server.config.etcd_version);
}

TEST_CASE("Status says since 3.6 what is stored, up to which quota, and that no downgrade is under way") {
  InProcessServer server;
  auto stub = pb::Maintenance::NewStub(server.connect());
  (*server.pages[1])[ReplicaCounter::kAppliedSlots].set(1);
  (*server.pages[1])[ReplicaCounter::kStoreQuotaBytes].set(77);
  pb::StatusResponse response;
  REQUIRE(call(*stub, &pb::Maintenance::Stub::Status, pb::StatusRequest(), response).ok());
  CHECK(response.storageversion() == "3.6.0");
  CHECK(response.dbsizequota() == 77);
  CHECK(response.has_downgradeinfo());
  CHECK_FALSE(response.downgradeinfo().enabled());

  server.config.etcd_version = "3.4.23";
  response.Clear();
  REQUIRE(call(*stub, &pb::Maintenance::Stub::Status, pb::StatusRequest(), response).ok());
  CHECK(response.version() == "3.4.23");
  CHECK(response.storageversion() == "");
  CHECK(response.dbsizequota() == 0);
  CHECK_FALSE(response.has_downgradeinfo());
}

TEST_CASE("There is no version to downgrade to, and no downgrade to cancel") {
  InProcessServer server;
  auto stub = pb::Maintenance::NewStub(server.connect());
  pb::DowngradeRequest request;
  pb::DowngradeResponse response;
  for (const auto action : {pb::DowngradeRequest::VALIDATE, pb::DowngradeRequest::ENABLE}) {
    request.set_action(action);
    request.set_version("3.5");
    check_error(call(*stub, &pb::Maintenance::Stub::Downgrade, request, response), grpc::StatusCode::INVALID_ARGUMENT,
                "etcdserver: invalid downgrade target version");
    for (const char* text : {"", "3", "3.5.", "3.x", "3.5.0.0"}) {
      request.set_version(text);
      check_error(call(*stub, &pb::Maintenance::Stub::Downgrade, request, response),
                  grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: wrong downgrade target version format");
    }
  }
  request.set_action(pb::DowngradeRequest::CANCEL);
  REQUIRE(call(*stub, &pb::Maintenance::Stub::Downgrade, request, response).ok());
  CHECK(response.version() == "3.6");
}

TEST_CASE("The leader is not moved for callers by TCP") {
  InProcessServer server;
  auto stub = pb::Maintenance::NewStub(server.connect());
  pb::MoveLeaderRequest request;
  request.set_targetid(1);
  pb::MoveLeaderResponse response;
  const grpc::Status status = call(*stub, &pb::Maintenance::Stub::MoveLeader, request, response);
  CHECK(status.error_code() == grpc::StatusCode::PERMISSION_DENIED);
}

class Alarms {
 public:
  explicit Alarms(const std::shared_ptr<grpc::Channel>& channel) : stub_(pb::Maintenance::NewStub(channel)) {}

  // The alarms of the answer, as "34 NOSPACE".
  std::vector<std::string> ask(pb::AlarmRequest::AlarmAction action, std::uint64_t member, pb::AlarmType alarm) {
    pb::AlarmResponse response;
    REQUIRE(send(action, member, alarm, response).ok());
    std::vector<std::string> names;
    for (const auto& each : response.alarms()) {
      names.push_back(std::to_string(each.memberid()) + " " + pb::AlarmType_Name(each.alarm()));
    }
    return names;
  }
  std::vector<std::string> list() { return ask(pb::AlarmRequest::GET, 0, pb::NONE); }

  grpc::Status send(pb::AlarmRequest::AlarmAction action, std::uint64_t member, pb::AlarmType alarm,
                    pb::AlarmResponse& response) {
    pb::AlarmRequest request;
    request.set_action(action);
    request.set_memberid(member);
    request.set_alarm(alarm);
    return call(*stub_, &pb::Maintenance::Stub::Alarm, request, response);
  }

 private:
  std::unique_ptr<pb::Maintenance::Stub> stub_;
};

using Names = std::vector<std::string>;

TEST_CASE("At the quota a put is refused in etcd's words and raises the alarm, which stands until it is disarmed") {
  InProcessServer server(kv::Quota(1000));
  auto stub = pb::KV::NewStub(server.connect());
  Alarms alarms(server.connect());
  const auto put = [&](const std::string& key, std::size_t bytes) {
    pb::PutRequest request;
    request.set_key(key);
    request.set_value(std::string(bytes, 'v'));
    pb::PutResponse response;
    return call(*stub, &pb::KV::Stub::Put, request, response);
  };
  const auto check_full = [](const grpc::Status& status) {
    check_error(status, grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
  };
  REQUIRE(put("a", 1).ok());
  CHECK(alarms.list().empty());
  check_full(put("big", 1000));
  CHECK(alarms.list() == Names{"34 NOSPACE"});
  check_full(put("a", 1));
  pb::TxnRequest txn;
  txn.add_failure()->mutable_request_put()->set_key("b");
  pb::TxnResponse answer;
  check_full(call(*stub, &pb::KV::Stub::Txn, txn, answer));
  pb::DeleteRangeRequest remove;
  remove.set_key("a");
  pb::DeleteRangeResponse removed;
  CHECK(call(*stub, &pb::KV::Stub::DeleteRange, remove, removed).ok());
  CHECK(alarms.ask(pb::AlarmRequest::DEACTIVATE, 34, pb::NOSPACE) == Names{"34 NOSPACE"});
  CHECK(alarms.ask(pb::AlarmRequest::DEACTIVATE, 34, pb::NOSPACE).empty());
  CHECK(put("a", 1).ok());
}

TEST_CASE("One alarm of one member can be raised, listed and disarmed; of others there is nothing") {
  InProcessServer server;
  Alarms alarms(server.connect());
  CHECK(alarms.ask(pb::AlarmRequest::ACTIVATE, 34, pb::NOSPACE) == Names{"34 NOSPACE"});
  CHECK(alarms.ask(pb::AlarmRequest::GET, 0, pb::NOSPACE) == Names{"34 NOSPACE"});
  CHECK(alarms.ask(pb::AlarmRequest::GET, 0, pb::CORRUPT).empty());
  CHECK(alarms.ask(pb::AlarmRequest::DEACTIVATE, 7, pb::NOSPACE).empty());
  CHECK(alarms.ask(pb::AlarmRequest::DEACTIVATE, 34, pb::CORRUPT).empty());
  CHECK(alarms.list() == Names{"34 NOSPACE"});
  for (const auto& [member, alarm] : {std::pair{34, pb::CORRUPT}, std::pair{7, pb::NOSPACE}, std::pair{34, pb::NONE}}) {
    pb::AlarmResponse response;
    const grpc::Status status =
        alarms.send(pb::AlarmRequest::ACTIVATE, static_cast<std::uint64_t>(member), alarm, response);
    check_error(status, grpc::StatusCode::UNIMPLEMENTED,
                "Ingot has one alarm: NOSPACE, of the one member that it lists");
  }
}

TEST_CASE("HashKV tells states apart, and one revision from another") {
  InProcessServer server;
  auto stub = pb::Maintenance::NewStub(server.connect());
  const auto hash = [&](std::int64_t revision) {
    pb::HashKVRequest request;
    request.set_revision(revision);
    pb::HashKVResponse response;
    REQUIRE(call(*stub, &pb::Maintenance::Stub::HashKV, request, response).ok());
    CHECK(response.compact_revision() == -1);
    CHECK(response.hash_revision() == (revision > 0 ? revision : response.header().revision()));
    return response.hash();
  };
  server.client.apply(kv::PutRequest{.key = "k", .value = "1"});
  const auto first = hash(0);
  server.client.apply(kv::PutRequest{.key = "k", .value = "2"});
  CHECK(hash(0) != first);
  CHECK(hash(2) == first);
  pb::HashKVRequest request;
  request.set_revision(99);
  pb::HashKVResponse response;
  check_error(call(*stub, &pb::Maintenance::Stub::HashKV, request, response), grpc::StatusCode::OUT_OF_RANGE,
              "etcdserver: mvcc: required revision is a future revision");
}

}  // namespace
}  // namespace ingot
