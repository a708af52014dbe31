// One call of Election.Observe: the present leader, its values, and all that follow.
#pragma once

#include <string>
#include <utility>

#include "proto/etcd/kv.pb.h"
#include "proto/etcd/rpc.pb.h"
#include "replication/store/api.h"
#include "services/locks/recipes.h"
#include "services/locks/waiting_call.h"

namespace ingot::locks {

// While a leader's key is there, its watch is that key's; while there is none, the election's, until a key is put.
class Observer final : public WaitingCall {
 public:
  Observer(Environment& environment, const rpc::Call& call, RequestMetrics& metrics, const std::string& name)
      : WaitingCall(environment, call, metrics, Method::kElectionObserve), prefix_(prefix_of(name)) {}

  void begin() override { look(); }

 private:
  void look();
  void follow(const std::string& key, kv::Revision revision);
  void await_first(kv::Revision revision);
  using Take = void (Observer::*)(const etcdserverpb::WatchResponse&);
  void begin_watch(etcdserverpb::WatchCreateRequest request, Take take);
  void take_first(const etcdserverpb::WatchResponse& response);
  void take_next(const etcdserverpb::WatchResponse& response);
  void look_again();
  void tell(const mvccpb::KeyValue& leader, kv::Revision revision);

  const std::string prefix_;
  kv::Revision told_ = 0;  // mod revision of what was told last
  std::string told_key_;   // its key
  bool leaving_ = false;   // the watch has told what it is for
};

}  // namespace ingot::locks
