#include "services/etcd/maintenance_methods.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/config/etcd_version.h"
#include "services/control/move.h"
#include "services/control/to_grpc.h"
#include "services/etcd/ask_store.h"
#include "services/etcd/errors.h"
#include "services/etcd/hash_call.h"
#include "services/etcd/translate.h"
#include "services/etcd/unary.h"
#include "services/status/status.h"

namespace ingot::etcd {

namespace pb = etcdserverpb;

namespace {

// Whether the text names a version, with or without its last number.
bool is_version(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '.');
  return (parts.size() == 2 || parts.size() == 3) && absl::c_all_of(parts, [](const std::string& part) {
           return !part.empty() && absl::c_all_of(part, absl::ascii_isdigit);
         });
}

}  // namespace

void MaintenanceMethods::add_to(rpc::Methods& methods) {
  const UnaryMethods unary(methods, "/etcdserverpb.Maintenance/", metrics_, *this);
  unary.add("Status", Method::kMaintenanceStatus, &MaintenanceMethods::status);
  unary.add("HashKV", Method::kMaintenanceHashKv, &MaintenanceMethods::hash_kv);
  unary.add("Hash", Method::kOther, &MaintenanceMethods::hash);
  unary.add("Alarm", Method::kMaintenanceAlarm, &MaintenanceMethods::alarm);
  unary.add("Defragment", Method::kOther, &MaintenanceMethods::defragment);
  unary.add("MoveLeader", Method::kOther, &MaintenanceMethods::move_leader);
  unary.add("Downgrade", Method::kOther, &MaintenanceMethods::downgrade);
}

// Read from the replicas' pages, so the call succeeds even when no replica answers.
void MaintenanceMethods::status(const LoopCall& call, const pb::StatusRequest&) {
  pb::StatusResponse response;
  header_.fill_with_revision(response.mutable_header());
  response.set_version(header_.config().etcd_version);
  response.set_raftterm(header_.term());
  response.set_raftindex(header_.greatest(ReplicaCounter::kDecidedSlots));
  response.set_raftappliedindex(header_.greatest(ReplicaCounter::kAppliedSlots));
  const auto counted =
      header_.newest(ReplicaCounter::kStoreLiveBytes) + header_.newest(ReplicaCounter::kStoreHistoryBytes);
  response.set_dbsize(static_cast<std::int64_t>(counted));
  response.set_dbsizeinuse(static_cast<std::int64_t>(counted));
  fill_since_3_6(response);
  if (header_.has_leader()) {
    response.set_leader(header_.config().member_id);
  } else {
    response.add_errors(text_of(Error::kNoLeader));
  }
  if (header_.newest(ReplicaCounter::kStoreNoSpace) != 0) {
    response.add_errors(
        absl::StrCat("memberID:", header_.config().member_id, " alarm:NOSPACE "));  // as etcd writes it
  }
  call.answer(response);
}

void MaintenanceMethods::fill_since_3_6(pb::StatusResponse& response) const {
  if (!etcd_version_at_least(header_.config(), 3, 6)) return;
  response.set_storageversion(etcd_cluster_version(header_.config()));
  response.set_dbsizequota(static_cast<std::int64_t>(header_.newest(ReplicaCounter::kStoreQuotaBytes)));
  response.mutable_downgradeinfo();  // which says that none is under way
}

void MaintenanceMethods::hash_kv(const LoopCall& call, const pb::HashKVRequest& request) {
  hash_at<pb::HashKVResponse>(
      call, request.revision(), [asked = request.revision()](const HashAnswer& answer, pb::HashKVResponse& response) {
        response.set_hash_revision(asked > 0 ? asked : answer.revision);
        response.set_hash(answer.hash);
        response.set_compact_revision(answer.compact_revision);
      });
}

void MaintenanceMethods::hash(const LoopCall& call, const pb::HashRequest&) {
  hash_at<pb::HashResponse>(
      call, 0, [](const HashAnswer& answer, pb::HashResponse& response) { response.set_hash(answer.hash); });
}

template <typename Response, typename Fill>
void MaintenanceMethods::hash_at(const LoopCall& call, kv::Revision revision, Fill fill) {
  const auto finish = [this, call, fill](const grpc::Status& status, const HashAnswer& answer) {
    if (!status.ok()) return call.finish(status);
    Response response;
    header_.fill(response.mutable_header());
    response.mutable_header()->set_revision(answer.revision);
    fill(answer, response);
    call.answer(response);
  };
  HashCall::start(client_, reads_, revision, {[call] { return call.open(); }, finish});
}

// There is one alarm, NOSPACE, of one member. Of others there is nothing to list or to disarm, and none is raised.
void MaintenanceMethods::alarm(const LoopCall& call, const pb::AlarmRequest& request) {
  const bool lists = request.action() == pb::AlarmRequest::GET;
  const bool concerned = request.alarm() == pb::NOSPACE && request.memberid() == header_.config().member_id;
  if (request.action() == pb::AlarmRequest::ACTIVATE && !concerned) {
    return call.finish({grpc::StatusCode::UNIMPLEMENTED,
                        "Ingot has one alarm: NOSPACE, of the one member that it lists"});
  }
  if (!pb::AlarmRequest::AlarmAction_IsValid(request.action()) ||
      (lists ? request.alarm() == pb::CORRUPT : !concerned)) {
    pb::AlarmResponse response;
    header_.fill_with_revision(response.mutable_header());
    return call.answer(response);
  }
  ask_store<kv::AlarmResult, pb::AlarmResponse>(
      client_, header_, call, lists ? RequestKind::kLinearizableQuery : RequestKind::kCommand,
      kv::Request(kv::AlarmRequest{static_cast<kv::AlarmRequest::Action>(request.action())}),
      [](kv::AlarmResult&& result, pb::AlarmResponse& response) { translate(std::move(result), &response); });
}

// etcd's answer has no header, either, and neither has MoveLeader's.
void MaintenanceMethods::defragment(const LoopCall& call, const pb::DefragmentRequest&) {
  call.answer(pb::DefragmentResponse());
}

// The member leads already, as long as anybody does. The number of a replica stands for that one: the call is Control's
// Move of the leader's role, and answered when the move has begun. Numbers drawn for members are larger.
void MaintenanceMethods::move_leader(const LoopCall& call, const pb::MoveLeaderRequest& request) {
  const DaemonConfig& config = header_.config();
  const pb::MoveLeaderResponse done;
  if (request.targetid() >= static_cast<std::uint64_t>(config.replicas)) {
    if (request.targetid() != config.member_id) return call.finish(to_status(Error::kBadTransferee));
    return header_.has_leader() ? call.answer(done) : call.finish(to_status(Error::kNoLeader));
  }
  control_v1::MoveRequest move;
  move.set_role(control_v1::ROLE_LEADER);
  move.set_to(static_cast<std::uint32_t>(request.targetid()));
  move_role(client_, move, read_status(config, view_, unix_now_ms()),
            [call, done](const absl::StatusOr<control_v1::MoveResponse>& begun) {
              begun.ok() ? call.answer(done) : call.finish(to_grpc(begun.status()));
            });
}

// There is no file of another version to go back to, so nothing is under way that could be cancelled, either. etcd
// answers that with OK, too.
void MaintenanceMethods::downgrade(const LoopCall& call, const pb::DowngradeRequest& request) {
  if (request.action() != pb::DowngradeRequest::CANCEL) {
    if (is_version(request.version())) return call.finish(to_status(Error::kDowngradeTarget));
    return call.finish({grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: wrong downgrade target version format"});
  }
  pb::DowngradeResponse response;
  header_.fill_with_revision(response.mutable_header());
  const std::string version = etcd_cluster_version(header_.config());
  response.set_version(version.substr(0, version.rfind('.')));  // "3.6", as etcd names it here
  call.answer(response);
}

}  // namespace ingot::etcd
