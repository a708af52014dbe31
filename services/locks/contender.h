// One call of Lock.Lock or Election.Campaign: it enters its key, waits until all keys that were created before are
// gone, and answers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "proto/etcd/rpc.pb.h"
#include "replication/store/api.h"
#include "services/locks/waiting_call.h"

namespace ingot::locks {

// A contender waits for one key, the last one that was created before its own: so a key that goes wakes one call.
//
// Its key is left behind if the call ends in silence: with its front end, or before the replicas have answered that the
// key is there. Then it goes with its lease, or another call with that lease finds it, and has its place. A call whose
// caller goes while it waits takes its key away. A key that holds the lock by then is not taken away, since another
// call with that lease may have been told so; unless the lease was granted for this call, so that no other knows it.
class Contender : public WaitingCall {
 public:
  struct Wish {
    std::string name;
    std::string value;
    std::int64_t lease = 0;  // 0: one is granted
  };
  Contender(Environment& environment, const rpc::Call& call, RequestMetrics& metrics, Method method, Wish wish)
      : WaitingCall(environment, call, metrics, method), wish_(std::move(wish)) {}

  void begin() override;

 protected:
  const Wish& wish() const { return wish_; }
  const std::string& key() const { return key_; }
  kv::Revision created() const { return created_; }

 private:
  // To send the answer. `entered`: the store's revision behind the entry; `last`: behind the last look.
  virtual void answer(kv::Revision entered, kv::Revision last) = 0;
  // The call has found its key in another call's or session's place, with another value. False: that is fine.
  virtual bool wants_value(const std::string& value) const = 0;
  virtual grpc::Status lost() const = 0;  // the key is gone before its turn

  void gone() override;
  void enter();
  void entered(kv::Revision revision, kv::TxnResult&& result);
  void proclaim(bool first);
  void look();
  void looked(kv::Revision revision, kv::TxnResult&& result);
  void wait_for(const std::string& key, kv::Revision revision);
  void take(const etcdserverpb::WatchResponse& response);
  void win(kv::Revision last);
  void fail(const grpc::Status& status);
  void leave();

  Wish wish_;
  std::string prefix_;
  std::string key_;
  kv::Revision created_ = 0;  // the key's create revision; 0: not known to be there
  kv::Revision entered_ = 0;
  bool granted_ = false;  // the lease, for this call
  bool leaves_ = false;   // the key is to go if the call ends without its answer
  bool woken_ = false;    // the watch has told what it is for
};

}  // namespace ingot::locks
