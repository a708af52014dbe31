// A server, and clients of its locks and elections, each call of which may wait on a thread of its own.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "core/check.h"
#include "proto/etcd/election.grpc.pb.h"
#include "proto/etcd/lock.grpc.pb.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "tests/services/etcd/in_process_server.h"

namespace ingot {

template <typename Response>
struct Answered {
  grpc::Status status;
  Response response;
};

// One call that waits. It is given up with the object, if it has not ended.
template <typename Response>
class WaitingCall {
 public:
  // call(context, response) makes the call.
  template <typename Call>
  explicit WaitingCall(Call call) {
    thread_ = std::thread([this, call = std::move(call)] {
      answered_.status = call(&context_, &answered_.response);
      ended_ = true;
    });
  }
  ~WaitingCall() {
    context_.TryCancel();
    if (thread_.joinable()) thread_.join();
  }

  bool ended() const { return ended_; }
  void cancel() { context_.TryCancel(); }
  const Answered<Response>& wait() {
    if (thread_.joinable()) thread_.join();
    return answered_;
  }

 private:
  grpc::ClientContext context_;
  Answered<Response> answered_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

using WaitingLock = WaitingCall<v3lockpb::LockResponse>;
using WaitingCampaign = WaitingCall<v3electionpb::CampaignResponse>;

struct LockClient {
  LockClient() {
    for (std::int64_t lease = 10; lease < 20; ++lease) grant(lease);
  }

  void grant(std::int64_t id) {
    etcdserverpb::LeaseGrantRequest request;
    request.set_id(id);
    request.set_ttl(600);
    const auto granted =
        ask(*leases, &etcdserverpb::Lease::Stub::LeaseGrant, request, etcdserverpb::LeaseGrantResponse());
    INGOT_CHECK(granted.status.ok());
  }
  void revoke(std::int64_t id) {
    etcdserverpb::LeaseRevokeRequest request;
    request.set_id(id);
    ask(*leases, &etcdserverpb::Lease::Stub::LeaseRevoke, request, etcdserverpb::LeaseRevokeResponse());
  }

  std::unique_ptr<WaitingLock> lock(const std::string& name, std::int64_t lease) {
    v3lockpb::LockRequest request;
    request.set_name(name);
    request.set_lease(lease);
    return std::make_unique<WaitingLock>([this, request](auto* context, auto* response) {
      return locks->Lock(context, request, response);
    });
  }
  Answered<v3lockpb::UnlockResponse> unlock(const std::string& key) {
    v3lockpb::UnlockRequest request;
    request.set_key(key);
    return ask(*locks, &v3lockpb::Lock::Stub::Unlock, request, v3lockpb::UnlockResponse());
  }

  std::unique_ptr<WaitingCampaign> campaign(const std::string& name, std::int64_t lease, const std::string& value) {
    v3electionpb::CampaignRequest request;
    request.set_name(name);
    request.set_lease(lease);
    request.set_value(value);
    return std::make_unique<WaitingCampaign>([this, request](auto* context, auto* response) {
      return elections->Campaign(context, request, response);
    });
  }
  Answered<v3electionpb::ProclaimResponse> proclaim(const v3electionpb::LeaderKey& key, const std::string& value) {
    v3electionpb::ProclaimRequest request;
    *request.mutable_leader() = key;
    request.set_value(value);
    return ask(*elections, &v3electionpb::Election::Stub::Proclaim, request, v3electionpb::ProclaimResponse());
  }
  Answered<v3electionpb::LeaderResponse> leader(const std::string& name) {
    v3electionpb::LeaderRequest request;
    request.set_name(name);
    return ask(*elections, &v3electionpb::Election::Stub::Leader, request, v3electionpb::LeaderResponse());
  }
  Answered<v3electionpb::ResignResponse> resign(const v3electionpb::LeaderKey& key) {
    v3electionpb::ResignRequest request;
    *request.mutable_leader() = key;
    return ask(*elections, &v3electionpb::Election::Stub::Resign, request, v3electionpb::ResignResponse());
  }

  // Of the key; 0: there is none.
  std::int64_t create_revision(const std::string& key) {
    etcdserverpb::RangeRequest request;
    request.set_key(key);
    const auto found = ask(*keys, &etcdserverpb::KV::Stub::Range, request, etcdserverpb::RangeResponse());
    return found.response.kvs_size() == 0 ? 0 : found.response.kvs(0).create_revision();
  }
  // Waits for it; a watchdog ends a test that waits for ever.
  void await_key(const std::string& key, bool there) {
    while ((create_revision(key) != 0) != there) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  template <typename Stub, typename Method, typename Request, typename Response>
  static Answered<Response> ask(Stub& stub, Method method, const Request& request, Response response) {
    grpc::ClientContext context;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    return {status, std::move(response)};
  }

  std::unique_ptr<InProcessServer> server = std::make_unique<InProcessServer>();
  std::shared_ptr<grpc::Channel> channel = server->connect();
  std::unique_ptr<etcdserverpb::KV::Stub> keys = etcdserverpb::KV::NewStub(channel);
  std::unique_ptr<etcdserverpb::Lease::Stub> leases = etcdserverpb::Lease::NewStub(channel);
  std::unique_ptr<v3lockpb::Lock::Stub> locks = v3lockpb::Lock::NewStub(channel);
  std::unique_ptr<v3electionpb::Election::Stub> elections = v3electionpb::Election::NewStub(channel);
};

}  // namespace ingot
