#include "services/etcd/cluster_methods.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "services/etcd/errors.h"
#include "services/etcd/store_request.h"
#include "services/etcd/unary.h"

namespace ingot::etcd {

namespace pb = etcdserverpb;

namespace {

const grpc::Status kNoMembers{
    grpc::StatusCode::UNIMPLEMENTED,
    "Ingot is always a single member; its replicas are set with --replicas at the start"};

}  // namespace

void ClusterMethods::add_to(rpc::Methods& methods) {
  const UnaryMethods unary(methods, "/etcdserverpb.Cluster/", metrics_, *this);
  unary.add("MemberList", Method::kClusterMemberList, &ClusterMethods::list);
  unary.add("MemberAdd", Method::kOther, &ClusterMethods::add);
  unary.add("MemberRemove", Method::kOther, &ClusterMethods::remove);
  unary.add("MemberUpdate", Method::kOther, &ClusterMethods::update);
  unary.add("MemberPromote", Method::kOther, &ClusterMethods::promote);
}

// The member never changes. But with `linearizable`, which clients ask for since 3.5, the answer shows as etcd's that
// the group decides.
void ClusterMethods::list(const LoopCall& call, const pb::MemberListRequest& request) {
  const DaemonConfig& config = header_.config();
  pb::MemberListResponse response;
  header_.fill(response.mutable_header());
  pb::Member* member = response.add_members();
  member->set_id(config.member_id);
  member->set_name(config.name);
  for (const absl::string_view each : absl::StrSplit(config.advertise_client_urls, ',', absl::SkipEmpty())) {
    member->add_clienturls(std::string(each));
  }
  if (member->clienturls().empty()) member->add_clienturls("http://" + config.listen);
  if (!request.linearizable()) return call.answer(response);
  std::string payload;  // asks for nothing, but what is linearizable
  if (const grpc::Status status = to_payload(kv::Request(kv::TxnRequest{}), payload); !status.ok()) {
    return call.finish(status);
  }
  client_.submit(RequestKind::kLinearizableQuery, std::move(payload),
                 [call, response = std::move(response)](const ReplicaReply& reply) {
                   const grpc::Status status = to_status(reply);
                   status.ok() ? call.answer(response) : call.finish(status);
                 });
}

void ClusterMethods::add(const LoopCall& call, const pb::MemberAddRequest&) { call.finish(kNoMembers); }

void ClusterMethods::remove(const LoopCall& call, const pb::MemberRemoveRequest& request) {
  call.finish(no_change_of(request.id()));
}

void ClusterMethods::update(const LoopCall& call, const pb::MemberUpdateRequest& request) {
  call.finish(no_change_of(request.id()));
}

void ClusterMethods::promote(const LoopCall& call, const pb::MemberPromoteRequest& request) {
  call.finish(to_status(request.id() == header_.config().member_id ? Error::kNotLearner : Error::kMemberNotFound));
}

grpc::Status ClusterMethods::no_change_of(std::uint64_t member) const {
  return member == header_.config().member_id ? kNoMembers : to_status(Error::kMemberNotFound);
}

}  // namespace ingot::etcd
