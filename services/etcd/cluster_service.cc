// etcdserverpb.Cluster. An instance is one member, whatever the number of its replicas, since all of them share one
// machine and one address.
#include <string>

#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/etcd/call.h"
#include "services/etcd/header.h"
#include "services/etcd/refusal.h"
#include "services/etcd/services.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

constexpr const char* kNoMembers = "Ingot is always a single member; its replicas are set with --replicas at the start";

class ClusterService final : public pb::Cluster::CallbackService {
 public:
  ClusterService(const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : header_(config, view), metrics_(metrics) {}

  // `linearizable` needs no agreement: the member never changes.
  Reactor* MemberList(Context* context, const pb::MemberListRequest*, pb::MemberListResponse* out) override {
    const Call call(context, metrics_, Method::kClusterMemberList);
    const DaemonConfig& config = header_.config();
    header_.fill(out->mutable_header());
    pb::Member* member = out->add_members();
    member->set_id(config.member_id);
    member->set_name(config.name);
    const bool is_url = config.listen.find("://") != std::string::npos || config.listen.starts_with("unix:");
    member->add_clienturls(is_url ? config.listen : "http://" + config.listen);
    return call.finish(grpc::Status::OK);
  }

  Reactor* MemberAdd(Context* context, const pb::MemberAddRequest*, pb::MemberAddResponse*) override {
    return refuse(context, metrics_, kNoMembers);
  }
  Reactor* MemberRemove(Context* context, const pb::MemberRemoveRequest*, pb::MemberRemoveResponse*) override {
    return refuse(context, metrics_, kNoMembers);
  }
  Reactor* MemberUpdate(Context* context, const pb::MemberUpdateRequest*, pb::MemberUpdateResponse*) override {
    return refuse(context, metrics_, kNoMembers);
  }
  Reactor* MemberPromote(Context* context, const pb::MemberPromoteRequest*, pb::MemberPromoteResponse*) override {
    return refuse(context, metrics_, kNoMembers);
  }

 private:
  const HeaderSource header_;
  RequestMetrics& metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_cluster_service(const DaemonConfig& config, const InstanceView& view,
                                                    RequestMetrics& metrics) {
  return std::make_unique<ClusterService>(config, view, metrics);
}

}  // namespace ingot::etcd
