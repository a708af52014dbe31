// etcdserverpb.Cluster. An instance is one member, whatever the number of its replicas, since all of them share one
// machine and one address.
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/etcd/call.h"
#include "services/etcd/errors.h"
#include "services/etcd/header.h"
#include "services/etcd/refusal.h"
#include "services/etcd/services.h"
#include "services/etcd/store_request.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

constexpr const char* kNoMembers = "Ingot is always a single member; its replicas are set with --replicas at the start";

class ClusterService final : public pb::Cluster::CallbackService {
 public:
  ClusterService(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : client_(client), header_(config, view), metrics_(metrics) {}

  // The member never changes. But with `linearizable`, which clients ask for since 3.5, the answer shows as etcd's that
  // the group decides.
  Reactor* MemberList(Context* context, const pb::MemberListRequest* in, pb::MemberListResponse* out) override {
    const Call call(context, metrics_, Method::kClusterMemberList);
    const DaemonConfig& config = header_.config();
    header_.fill(out->mutable_header());
    pb::Member* member = out->add_members();
    member->set_id(config.member_id);
    member->set_name(config.name);
    for (const absl::string_view each : absl::StrSplit(config.advertise_client_urls, ',', absl::SkipEmpty())) {
      member->add_clienturls(std::string(each));
    }
    if (member->clienturls().empty()) member->add_clienturls("http://" + config.listen);
    return in->linearizable() ? await_leader(call) : call.finish(grpc::Status::OK);
  }

  Reactor* MemberAdd(Context* context, const pb::MemberAddRequest*, pb::MemberAddResponse*) override {
    return refuse(context, metrics_, kNoMembers);
  }
  Reactor* MemberRemove(Context* context, const pb::MemberRemoveRequest* in, pb::MemberRemoveResponse*) override {
    return in->id() == header_.config().member_id ? refuse(context, metrics_, kNoMembers) : unknown_member(context);
  }
  Reactor* MemberUpdate(Context* context, const pb::MemberUpdateRequest* in, pb::MemberUpdateResponse*) override {
    return in->id() == header_.config().member_id ? refuse(context, metrics_, kNoMembers) : unknown_member(context);
  }
  Reactor* MemberPromote(Context* context, const pb::MemberPromoteRequest* in, pb::MemberPromoteResponse*) override {
    if (in->id() != header_.config().member_id) return unknown_member(context);
    return Call(context, metrics_, Method::kOther).finish(to_status(Error::kNotLearner));
  }

 private:
  // Asks for nothing, but what is linearizable.
  Reactor* await_leader(const Call& call) {
    std::string payload;
    if (grpc::Status status = to_payload(kv::Request(kv::TxnRequest{}), payload); !status.ok()) {
      return call.finish(status);
    }
    Reactor* const reactor = call.reactor();
    client_.submit(RequestKind::kLinearizableQuery, std::move(payload),
                   [call](const ReplicaReply& reply) { call.finish(to_status(reply)); });
    return reactor;
  }

  Reactor* unknown_member(Context* context) {
    return Call(context, metrics_, Method::kOther).finish(to_status(Error::kMemberNotFound));
  }

  ReplicaClient& client_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_cluster_service(ReplicaClient& client, const DaemonConfig& config,
                                                    const InstanceView& view, RequestMetrics& metrics) {
  return std::make_unique<ClusterService>(client, config, view, metrics);
}

}  // namespace ingot::etcd
