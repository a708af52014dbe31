#include "services/locks/lock_methods.h"

#include <memory>
#include <utility>
#include <vector>

#include "proto/etcd/election.pb.h"
#include "proto/etcd/lock.pb.h"
#include "services/etcd/lease_methods.h"
#include "services/etcd/parse.h"
#include "services/etcd/translate.h"
#include "services/locks/ask.h"
#include "services/locks/contender.h"
#include "services/locks/limits.h"
#include "services/locks/observer.h"
#include "services/locks/recipes.h"

namespace ingot::locks {
namespace {

namespace ep = v3electionpb;
namespace lp = v3lockpb;

// In the words of clientv3's package concurrency, by which Go programs know them.
const grpc::Status kLockLost{grpc::StatusCode::UNKNOWN, "mutex: session is expired"};
const grpc::Status kNotLeader{grpc::StatusCode::UNKNOWN, "election: not leader"};
const grpc::Status kNoLeader{grpc::StatusCode::UNKNOWN, "election: no leader"};
const grpc::Status kNoLeaderKey{grpc::StatusCode::UNKNOWN, "\"leader\" field must be provided"};

template <typename Response>
Response with_header(const etcd::HeaderSource& header, kv::Revision revision) {
  Response response;
  header.fill(response.mutable_header());
  response.mutable_header()->set_revision(revision);
  return response;
}

class LockContender final : public Contender {
 public:
  using Contender::Contender;

 private:
  void answer(kv::Revision, kv::Revision last) override {
    auto response = with_header<lp::LockResponse>(environment_.header, last);
    response.set_key(key());
    send(response);
  }
  bool wants_value(const std::string&) const override { return false; }
  grpc::Status lost() const override { return kLockLost; }
};

class Candidate final : public Contender {
 public:
  using Contender::Contender;

 private:
  void answer(kv::Revision entered, kv::Revision) override {
    auto response = with_header<ep::CampaignResponse>(environment_.header, entered);
    response.mutable_leader()->set_name(wish().name);
    response.mutable_leader()->set_key(key());
    response.mutable_leader()->set_rev(created());
    response.mutable_leader()->set_lease(wish().lease);
    send(response);
  }
  bool wants_value(const std::string& value) const override { return value != wish().value; }
  grpc::Status lost() const override { return kNotLeader; }
};

template <typename Request>
void add_call(rpc::Methods& methods, const char* path, typename WaitingCallHandler<Request>::Make make,
              bool bounds_output = false) {
  rpc::Method method;
  method.bounds_output = bounds_output;
  method.stream = [make = std::move(make)](const rpc::Call& call) {
    return std::make_unique<WaitingCallHandler<Request>>(call, make);
  };
  methods.add(path, std::move(method));
}

}  // namespace

void LockMethods::add_to(rpc::Methods& methods) {
  const auto add = [&](const char* path, void (LockMethods::*serve)(rpc::Call, std::string_view),
                       rpc::Method::Weight weight = rpc::Method::Weight::kSmall) {
    rpc::Method method;
    method.weight = weight;
    method.unary = [this, serve](rpc::Call caller, std::string_view bytes) { (this->*serve)(caller, bytes); };
    methods.add(path, std::move(method));
  };
  add("/v3lockpb.Lock/Unlock", &LockMethods::unlock);
  add("/v3electionpb.Election/Proclaim", &LockMethods::proclaim);
  add("/v3electionpb.Election/Leader", &LockMethods::leader, rpc::Method::Weight::kUnknown);
  add("/v3electionpb.Election/Resign", &LockMethods::resign);
  add_waiting(methods);
}

void LockMethods::add_waiting(rpc::Methods& methods) {
  add_call<lp::LockRequest>(methods, "/v3lockpb.Lock/Lock", [this](const rpc::Call& call, lp::LockRequest&& request) {
    Contender::Wish wish{std::move(*request.mutable_name()), "", request.lease()};
    return std::make_shared<LockContender>(environment_, call, metrics_, Method::kLockLock, std::move(wish));
  });
  add_call<ep::CampaignRequest>(
      methods, "/v3electionpb.Election/Campaign", [this](const rpc::Call& call, ep::CampaignRequest&& request) {
        Contender::Wish wish{std::move(*request.mutable_name()), std::move(*request.mutable_value()), request.lease()};
        return std::make_shared<Candidate>(environment_, call, metrics_, Method::kElectionCampaign, std::move(wish));
      });
  add_call<ep::LeaderRequest>(
      methods, "/v3electionpb.Election/Observe",
      [this](const rpc::Call& call, ep::LeaderRequest&& request) {
        return std::make_shared<Observer>(environment_, call, metrics_, request.name());
      },
      true);
}

void LockMethods::unlock(rpc::Call caller, std::string_view bytes) {
  lp::UnlockRequest message;
  if (!etcd::parse(caller, bytes, message)) return;
  const etcd::LoopCall call(caller, metrics_, Method::kLockUnlock);
  kv::DeleteRangeRequest request;
  request.key = std::move(*message.mutable_key());
  ask<kv::DeleteRangeResult>(
      client_, RequestKind::kCommand, std::move(request),
      [this, call](const grpc::Status& status, kv::Revision revision, kv::DeleteRangeResult&&) {
        if (!status.ok()) return call.finish(status);
        call.answer(with_header<lp::UnlockResponse>(header_, revision));
      });
}

// Without a lease the value gets one that is granted for it, as with etcd.
void LockMethods::proclaim(rpc::Call caller, std::string_view bytes) {
  ep::ProclaimRequest message;
  if (!etcd::parse(caller, bytes, message)) return;
  const etcd::LoopCall call(caller, metrics_, Method::kElectionProclaim);
  if (!message.has_leader()) return call.finish(kNoLeaderKey);
  const auto put = [this, call, message](std::int64_t lease) {
    const ep::LeaderKey& leader = message.leader();
    ask<kv::TxnResult>(client_, RequestKind::kCommand,
                       locks::proclaim(leader.key(), leader.rev(), message.value(), lease),
                       [this, call](const grpc::Status& status, kv::Revision revision, kv::TxnResult&& result) {
                         if (!status.ok()) return call.finish(status);
                         if (!result.succeeded) return call.finish(kNotLeader);
                         call.answer(with_header<ep::ProclaimResponse>(header_, revision));
                       });
  };
  if (message.leader().lease() != 0) return put(message.leader().lease());
  ask<kv::LeaseGrantResult>(client_, RequestKind::kCommand,
                            kv::LeaseGrantRequest{etcd::draw_lease_id(), kSessionTtlS},
                            [call, put](const grpc::Status& status, kv::Revision, kv::LeaseGrantResult&& granted) {
                              status.ok() ? put(granted.id) : call.finish(status);
                            });
}

void LockMethods::leader(rpc::Call caller, std::string_view bytes) {
  ep::LeaderRequest message;
  if (!etcd::parse(caller, bytes, message)) return;
  const etcd::LoopCall call(caller, metrics_, Method::kElectionLeader);
  ask<kv::TxnResult>(client_, RequestKind::kLinearizableQuery, read_first(prefix_of(message.name())),
                     [this, call](const grpc::Status& status, kv::Revision revision, kv::TxnResult&& result) {
                       if (!status.ok()) return call.finish(status);
                       std::vector<kv::KeyValue>& found = read_by(result, 0);
                       if (found.empty()) return call.finish(kNoLeader);
                       auto response = with_header<ep::LeaderResponse>(header_, revision);
                       etcd::translate(std::move(found.front()), response.mutable_kv());
                       call.answer(response);
                     });
}

void LockMethods::resign(rpc::Call caller, std::string_view bytes) {
  ep::ResignRequest message;
  if (!etcd::parse(caller, bytes, message)) return;
  const etcd::LoopCall call(caller, metrics_, Method::kElectionResign);
  if (!message.has_leader()) return call.finish(kNoLeaderKey);
  ask<kv::TxnResult>(client_, RequestKind::kCommand, leave(message.leader().key(), message.leader().rev()),
                     [this, call](const grpc::Status& status, kv::Revision revision, kv::TxnResult&&) {
                       if (!status.ok()) return call.finish(status);
                       call.answer(with_header<ep::ResignResponse>(header_, revision));
                     });
}

}  // namespace ingot::locks
