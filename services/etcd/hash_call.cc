#include "services/etcd/hash_call.h"

#include <utility>

namespace ingot::etcd {

void HashCall::start(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller) {
  std::shared_ptr<HashCall>(new HashCall(client, reads, revision, std::move(caller)))->begin();
}

HashCall::HashCall(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller)
    : SteppedRead(client, reads, {.revision = revision}, /*serializable=*/false), caller_(std::move(caller)) {}

void HashCall::reset() {
  request_ = {};
  answer_.reset();
  sum_ = 0;
}

void HashCall::take_step(kv::HashResult&& part, kv::Revision revision) {
  if (!answer_) answer_ = HashAnswer{revision, part.compact_revision, 0};
  if (part.compact_revision != answer_->compact_revision) return begin_again();
  sum_ += part.sum;
  request_.from = std::move(part.next_from);
  request_.below = part.next_below;
  if (!request_.from.empty()) return go_on();
  answer_->hash = kv::fold_hash(sum_);
  caller_.finish(grpc::Status::OK, *answer_);
}

}  // namespace ingot::etcd
