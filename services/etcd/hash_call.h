// One HashKV or Hash call: asks the replicas for the hash part by part.
#pragma once

#include <functional>
#include <optional>

#include "services/etcd/stepped_read.h"

namespace ingot::etcd {

struct HashAnswer {
  kv::Revision revision = 0;  // the store's, when the hash began
  kv::Revision compact_revision = -1;
  std::uint32_t hash = 0;
};

// A compaction between two parts changes what is hashed: then it begins again, too. Used by the thread of start(), then
// by the client's.
class HashCall final : public SteppedRead<kv::HashRequest, kv::HashResult> {
 public:
  struct Caller {
    std::function<bool()> open;  // false: nobody waits any more
    std::function<void(const grpc::Status& status, const HashAnswer& answer)> finish;  // called once
  };
  // `revision`: 0 or less: the newest. `client` and `reads` outlive the call.
  static void start(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller);

 private:
  HashCall(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller);

  void reset() override;
  void take_step(kv::HashResult&& part, kv::Revision revision) override;
  bool wanted() const override { return caller_.open(); }
  void fail(const grpc::Status& status) override { caller_.finish(status, {}); }

  const Caller caller_;
  std::optional<HashAnswer> answer_;  // from the first part on
  std::uint64_t sum_ = 0;
};

}  // namespace ingot::etcd
