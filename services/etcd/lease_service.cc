// etcdserverpb.Lease is not implemented: every call is refused with a sentence that says why.
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/etcd/refusal.h"
#include "services/etcd/services.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

constexpr const char* kNoLeases = "Ingot does not have leases yet: keys stay until they are deleted";

class LeaseService final : public pb::Lease::CallbackService {
 public:
  explicit LeaseService(RequestMetrics& metrics) : metrics_(metrics) {}

  Reactor* LeaseGrant(Context* context, const pb::LeaseGrantRequest*, pb::LeaseGrantResponse*) override {
    return refuse(context, metrics_, kNoLeases);
  }
  Reactor* LeaseRevoke(Context* context, const pb::LeaseRevokeRequest*, pb::LeaseRevokeResponse*) override {
    return refuse(context, metrics_, kNoLeases);
  }
  grpc::ServerBidiReactor<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>* LeaseKeepAlive(Context*) override {
    using Stream = grpc::ServerBidiReactor<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>;
    return refuse_stream<Stream>(metrics_, kNoLeases);
  }
  Reactor* LeaseTimeToLive(Context* context, const pb::LeaseTimeToLiveRequest*,
                           pb::LeaseTimeToLiveResponse*) override {
    return refuse(context, metrics_, kNoLeases);
  }
  Reactor* LeaseLeases(Context* context, const pb::LeaseLeasesRequest*, pb::LeaseLeasesResponse*) override {
    return refuse(context, metrics_, kNoLeases);
  }

 private:
  RequestMetrics& metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_lease_service(RequestMetrics& metrics) {
  return std::make_unique<LeaseService>(metrics);
}

}  // namespace ingot::etcd
