#include "services/etcd/lease_methods.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "services/etcd/ask_store.h"
#include "services/etcd/errors.h"
#include "services/etcd/unary.h"
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
  const UnaryMethods unary(methods, "/etcdserverpb.Lease/", metrics_, *this);
  unary.add("LeaseGrant", Method::kLeaseGrant, &LeaseMethods::grant);
  unary.add("LeaseRevoke", Method::kLeaseRevoke, &LeaseMethods::revoke);
  unary.add("LeaseTimeToLive", Method::kLeaseTimeToLive, &LeaseMethods::time_to_live, Weight::kUnknown);
  unary.add("LeaseLeases", Method::kLeaseLeases, &LeaseMethods::leases, Weight::kUnknown);
  rpc::Method keep_alive;
  keep_alive.stream = [this](rpc::Call call) { return keep_alives_.begin(call, metrics_); };
  methods.add("/etcdserverpb.Lease/LeaseKeepAlive", std::move(keep_alive));
}

void LeaseMethods::drain() { keep_alives_.end(server_stopped()); }

void LeaseMethods::grant(const LoopCall& call, const pb::LeaseGrantRequest& message) {
  const kv::LeaseGrantRequest request{message.id() != 0 ? message.id() : draw_lease_id(), message.ttl()};
  ask_store<kv::LeaseGrantResult, pb::LeaseGrantResponse>(
      client_, header_, call, RequestKind::kCommand, request,
      [](kv::LeaseGrantResult&& result, pb::LeaseGrantResponse& response) {
        response.set_id(result.id);
        response.set_ttl(result.ttl_s);
      });
}

void LeaseMethods::revoke(const LoopCall& call, const pb::LeaseRevokeRequest& message) {
  ask_store<kv::LeaseRevokeResult, pb::LeaseRevokeResponse>(client_, header_, call, RequestKind::kCommand,
                                                            kv::LeaseRevokeRequest{message.id()},
                                                            [](kv::LeaseRevokeResult&&, pb::LeaseRevokeResponse&) {});
}

void LeaseMethods::time_to_live(const LoopCall& call, const pb::LeaseTimeToLiveRequest& message) {
  ask_store<kv::LeaseTimeToLiveResult, pb::LeaseTimeToLiveResponse>(
      client_, header_, call, RequestKind::kLinearizableQuery, kv::LeaseTimeToLiveRequest{message.id(), message.keys()},
      [id = message.id()](kv::LeaseTimeToLiveResult&& result, pb::LeaseTimeToLiveResponse& response) {
        response.set_id(id);
        response.set_ttl(result.ttl_s);
        response.set_grantedttl(result.granted_ttl_s);
        for (std::string& key : result.keys) response.add_keys(std::move(key));
      });
}

void LeaseMethods::leases(const LoopCall& call, const pb::LeaseLeasesRequest&) {
  ask_store<kv::LeasesResult, pb::LeaseLeasesResponse>(
      client_, header_, call, RequestKind::kLinearizableQuery, kv::LeasesRequest{},
      [](kv::LeasesResult&& result, pb::LeaseLeasesResponse& response) {
        for (const std::int64_t id : result.ids) response.add_leases()->set_id(id);
      });
}

}  // namespace ingot::etcd
