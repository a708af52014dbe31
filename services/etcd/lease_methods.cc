#include "services/etcd/lease_methods.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "proto/etcd/rpc.pb.h"
#include "services/etcd/parse.h"
#include "services/etcd/store_answer.h"
#include "transport/host/kernel_random.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;

}  // namespace

std::int64_t draw_lease_id() {
  std::uint64_t drawn = 0;
  while (drawn == 0) drawn = draw_random_u64() >> 1;
  return static_cast<std::int64_t>(drawn);
}

void LeaseMethods::add_to(rpc::Methods& methods) {
  using Weight = rpc::Method::Weight;
  const auto add = [&](const char* path, void (LeaseMethods::*serve)(rpc::Call, std::string_view), Weight weight) {
    rpc::Method method;
    method.weight = weight;
    method.unary = [this, serve](rpc::Call caller, std::string_view bytes) { (this->*serve)(caller, bytes); };
    methods.add(path, std::move(method));
  };
  add("/etcdserverpb.Lease/LeaseGrant", &LeaseMethods::grant, Weight::kSmall);
  add("/etcdserverpb.Lease/LeaseRevoke", &LeaseMethods::revoke, Weight::kSmall);
  add("/etcdserverpb.Lease/LeaseTimeToLive", &LeaseMethods::time_to_live, Weight::kUnknown);
  add("/etcdserverpb.Lease/LeaseLeases", &LeaseMethods::leases, Weight::kUnknown);
  rpc::Method keep_alive;
  keep_alive.stream = [this](rpc::Call call) { return keep_alives_.begin(call, metrics_); };
  methods.add("/etcdserverpb.Lease/LeaseKeepAlive", std::move(keep_alive));
}

void LeaseMethods::drain() { keep_alives_.end({grpc::StatusCode::UNAVAILABLE, "etcdserver: server stopped"}); }

void LeaseMethods::grant(rpc::Call caller, std::string_view bytes) {
  pb::LeaseGrantRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kLeaseGrant);
  const kv::LeaseGrantRequest request{message.id() != 0 ? message.id() : draw_lease_id(), message.ttl()};
  submit<kv::LeaseGrantResult, pb::LeaseGrantResponse>(
      call, RequestKind::kCommand, request, [](kv::LeaseGrantResult&& result, pb::LeaseGrantResponse& response) {
        response.set_id(result.id);
        response.set_ttl(result.ttl_s);
      });
}

void LeaseMethods::revoke(rpc::Call caller, std::string_view bytes) {
  pb::LeaseRevokeRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kLeaseRevoke);
  submit<kv::LeaseRevokeResult, pb::LeaseRevokeResponse>(call, RequestKind::kCommand,
                                                         kv::LeaseRevokeRequest{message.id()},
                                                         [](kv::LeaseRevokeResult&&, pb::LeaseRevokeResponse&) {});
}

void LeaseMethods::time_to_live(rpc::Call caller, std::string_view bytes) {
  pb::LeaseTimeToLiveRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kLeaseTimeToLive);
  submit<kv::LeaseTimeToLiveResult, pb::LeaseTimeToLiveResponse>(
      call, RequestKind::kLinearizableQuery, kv::LeaseTimeToLiveRequest{message.id(), message.keys()},
      [id = message.id()](kv::LeaseTimeToLiveResult&& result, pb::LeaseTimeToLiveResponse& response) {
        response.set_id(id);
        response.set_ttl(result.ttl_s);
        response.set_grantedttl(result.granted_ttl_s);
        for (std::string& key : result.keys) response.add_keys(std::move(key));
      });
}

void LeaseMethods::leases(rpc::Call caller, std::string_view bytes) {
  pb::LeaseLeasesRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kLeaseLeases);
  submit<kv::LeasesResult, pb::LeaseLeasesResponse>(
      call, RequestKind::kLinearizableQuery, kv::LeasesRequest{},
      [](kv::LeasesResult&& result, pb::LeaseLeasesResponse& response) {
        for (const std::int64_t id : result.ids) response.add_leases()->set_id(id);
      });
}

template <typename Body, typename Response, typename Translate>
void LeaseMethods::submit(const LoopCall& call, RequestKind kind, const kv::Request& request, Translate translate) {
  client_.submit(kind, kv::encode(request), [this, call, translate](const ReplicaReply& reply) {
    kv::Result result;
    if (grpc::Status status = open<Body>(reply, result); !status.ok()) return call.finish(status);
    Response response;
    header_.fill(response.mutable_header());
    response.mutable_header()->set_revision(result.revision);
    translate(std::get<Body>(std::move(result.body)), response);
    call.answer(response);
  });
}

}  // namespace ingot::etcd
