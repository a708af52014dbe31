// etcdserverpb.Maintenance: state and health, for operators' tools.
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/etcd_version.h"
#include "services/control/move.h"
#include "services/control/refused_stream.h"
#include "services/etcd/call.h"
#include "services/etcd/errors.h"
#include "services/etcd/hash_call.h"
#include "services/etcd/header.h"
#include "services/etcd/long_reads.h"
#include "services/etcd/refusal.h"
#include "services/etcd/services.h"
#include "services/etcd/snapshot_stream.h"
#include "services/status/status.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

// Whether the text names a version, with or without its last number.
bool is_version(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '.');
  return (parts.size() == 2 || parts.size() == 3) && absl::c_all_of(parts, [](const std::string& part) {
           return !part.empty() && absl::c_all_of(part, absl::ascii_isdigit);
         });
}

class MaintenanceService final : public pb::Maintenance::CallbackService {
 public:
  MaintenanceService(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view,
                     RequestMetrics& metrics, SnapshotParts snapshots)
      : client_(client),
        view_(view),
        header_(config, view),
        metrics_(metrics),
        snapshots_(client, header_, view, metrics, std::move(snapshots)) {}

  // Read from the replicas' pages, so the call succeeds even when no replica answers.
  Reactor* Status(Context* context, const pb::StatusRequest*, pb::StatusResponse* out) override {
    const Call call(context, metrics_, Method::kMaintenanceStatus);
    header_.fill_with_revision(out->mutable_header());
    out->set_version(header_.config().etcd_version);
    out->set_raftterm(header_.term());
    out->set_raftindex(header_.greatest(ReplicaCounter::kDecidedSlots));
    out->set_raftappliedindex(header_.greatest(ReplicaCounter::kAppliedSlots));
    const auto counted =
        header_.newest(ReplicaCounter::kStoreLiveBytes) + header_.newest(ReplicaCounter::kStoreHistoryBytes);
    out->set_dbsize(static_cast<std::int64_t>(counted));
    out->set_dbsizeinuse(static_cast<std::int64_t>(counted));
    fill_since_3_6(*out);
    if (header_.has_leader()) {
      out->set_leader(header_.config().member_id);
    } else {
      out->add_errors(text_of(Error::kNoLeader));
    }
    if (header_.newest(ReplicaCounter::kStoreNoSpace) != 0) {
      out->add_errors(absl::StrCat("memberID:", header_.config().member_id, " alarm:NOSPACE "));  // as etcd writes it
    }
    return call.finish(grpc::Status::OK);
  }

  Reactor* HashKV(Context* context, const pb::HashKVRequest* in, pb::HashKVResponse* out) override {
    const kv::Revision asked = in->revision();
    return hash(context, Method::kMaintenanceHashKv, asked, out->mutable_header(),
                [out, asked](const HashAnswer& answer) {
                  out->set_hash_revision(asked > 0 ? asked : answer.revision);
                  out->set_hash(answer.hash);
                  out->set_compact_revision(answer.compact_revision);
                });
  }

  Reactor* Hash(Context* context, const pb::HashRequest*, pb::HashResponse* out) override {
    return hash(context, Method::kOther, 0, out->mutable_header(),
                [out](const HashAnswer& answer) { out->set_hash(answer.hash); });
  }

  // There is one alarm, NOSPACE, of one member. Of others there is nothing to list or to disarm, and none is raised.
  Reactor* Alarm(Context* context, const pb::AlarmRequest* in, pb::AlarmResponse* out) override {
    const bool lists = in->action() == pb::AlarmRequest::GET;
    const bool concerned = in->alarm() == pb::NOSPACE && in->memberid() == header_.config().member_id;
    if (in->action() == pb::AlarmRequest::ACTIVATE && !concerned) {
      return refuse(context, metrics_, "Ingot has one alarm: NOSPACE, of the one member that it lists");
    }
    const Call call(context, metrics_, Method::kMaintenanceAlarm);
    if (!pb::AlarmRequest::AlarmAction_IsValid(in->action()) || (lists ? in->alarm() == pb::CORRUPT : !concerned)) {
      header_.fill_with_revision(out->mutable_header());
      return call.finish(grpc::Status::OK);
    }
    header_.fill(out->mutable_header());
    const kv::Request request(kv::AlarmRequest{static_cast<kv::AlarmRequest::Action>(in->action())});
    const auto kind = lists ? RequestKind::kLinearizableQuery : RequestKind::kCommand;
    return submit<kv::AlarmResult>(client_, kind, request, out, call);
  }

  // etcd's answer has no header, either, and neither has MoveLeader's.
  Reactor* Defragment(Context* context, const pb::DefragmentRequest*, pb::DefragmentResponse*) override {
    return Call(context, metrics_, Method::kOther).finish(grpc::Status::OK);
  }

  grpc::ServerWriteReactor<pb::SnapshotResponse>* Snapshot(Context* context, const pb::SnapshotRequest*) override {
    return start_snapshot_stream(snapshots_, context);
  }

  // The member leads already, as long as anybody does. The number of a replica stands for that one: the call is
  // Control's Move of the leader's role, and answered when the move has begun. Numbers drawn for members are larger.
  Reactor* MoveLeader(Context* context, const pb::MoveLeaderRequest* in, pb::MoveLeaderResponse*) override {
    const Call call(context, metrics_, Method::kOther);
    const DaemonConfig& config = header_.config();
    if (in->targetid() >= static_cast<std::uint64_t>(config.replicas)) {
      if (in->targetid() != config.member_id) return call.finish(to_status(Error::kBadTransferee));
      return call.finish(header_.has_leader() ? grpc::Status::OK : to_status(Error::kNoLeader));
    }
    control_v1::MoveRequest move;
    move.set_role(control_v1::ROLE_LEADER);
    move.set_to(static_cast<std::uint32_t>(in->targetid()));
    Reactor* const reactor = call.reactor();
    move_role(client_, move, read_status(config, view_, unix_now_ms()),
              [call](const absl::StatusOr<control_v1::MoveResponse>& begun) { call.finish(to_grpc(begun.status())); });
    return reactor;
  }

  // There is no file of another version to go back to, so nothing is under way that could be cancelled, either. etcd
  // answers that with OK, too.
  Reactor* Downgrade(Context* context, const pb::DowngradeRequest* in, pb::DowngradeResponse* out) override {
    const Call call(context, metrics_, Method::kOther);
    if (in->action() != pb::DowngradeRequest::CANCEL) {
      if (is_version(in->version())) return call.finish(to_status(Error::kDowngradeTarget));
      return call.finish({grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: wrong downgrade target version format"});
    }
    header_.fill_with_revision(out->mutable_header());
    const std::string version = etcd_cluster_version(header_.config());
    out->set_version(version.substr(0, version.rfind('.')));  // "3.6", as etcd names it here
    return call.finish(grpc::Status::OK);
  }

 private:
  void fill_since_3_6(pb::StatusResponse& out) const {
    if (!etcd_version_at_least(header_.config(), 3, 6)) return;
    out.set_storageversion(etcd_cluster_version(header_.config()));
    out.set_dbsizequota(static_cast<std::int64_t>(header_.newest(ReplicaCounter::kStoreQuotaBytes)));
    out.mutable_downgradeinfo();  // which says that none is under way
  }

  // The context lives until the call is finished.
  Reactor* hash(Context* context, Method method, kv::Revision revision, pb::ResponseHeader* header,
                std::function<void(const HashAnswer&)> fill) {
    const Call call(context, metrics_, method);
    header_.fill(header);
    const auto finish = [call, header, fill = std::move(fill)](const grpc::Status& status, const HashAnswer& answer) {
      if (status.ok()) {
        header->set_revision(answer.revision);
        fill(answer);
      }
      call.finish(status);
    };
    Reactor* const reactor = call.reactor();
    HashCall::start(client_, reads_, revision, {[context] { return !context->IsCancelled(); }, finish});
    return reactor;
  }

  ReplicaClient& client_;
  const InstanceView& view_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
  LongReads reads_;
  SnapshotCalls snapshots_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_maintenance_service(ReplicaClient& client, const DaemonConfig& config,
                                                        const InstanceView& view, RequestMetrics& metrics,
                                                        SnapshotParts snapshots) {
  return std::make_unique<MaintenanceService>(client, config, view, metrics, std::move(snapshots));
}

}  // namespace ingot::etcd
