#include "services/etcd/hash_call.h"

#include <string>
#include <utility>

#include "replication/store/limits.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/store_answer.h"

namespace ingot::etcd {

void HashCall::start(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller) {
  std::shared_ptr<HashCall>(new HashCall(client, reads, revision, std::move(caller)))->begin();
}

HashCall::HashCall(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller)
    : client_(client), reads_(reads), asked_revision_(revision), caller_(std::move(caller)) {}

void HashCall::begin() {
  request_ = {.revision = asked_revision_, .part_versions = kFirstStepKeys};
  answer_.reset();
  sum_ = 0;
  ask(RequestKind::kLinearizableQuery);
}

void HashCall::go_on() {
  request_.part_versions = kPartVersionsMax;
  reads_.enter([self = shared_from_this()] {
    self->in_turn_ = true;
    if (self->caller_.open()) return self->ask(RequestKind::kLocalQuery);
    self->reads_.leave();
    self->caller_.finish({grpc::StatusCode::CANCELLED, "the caller has gone"}, {});
  });
}

void HashCall::ask(RequestKind kind) {
  last_kind_ = kind;
  client_.submit(kind, kv::encode(kv::Request(request_)),
                 [self = shared_from_this()](const ReplicaReply& reply) { self->take(reply); });
}

void HashCall::take(const ReplicaReply& reply) {
  kv::Result result;
  const grpc::Status status = open<kv::HashResult>(reply, result);
  if (answer_ && result.code == kv::Code::kFutureRevision && last_kind_ == RequestKind::kLocalQuery) {
    return ask(RequestKind::kLinearizableQuery);
  }
  if (std::exchange(in_turn_, false)) reads_.leave();
  if (status.ok()) return take_part(result);
  if (answer_ && result.code == kv::Code::kCompacted && asked_revision_ <= 0) return begin_again();
  caller_.finish(status, {});
}

void HashCall::take_part(const kv::Result& result) {
  const auto& part = std::get<kv::HashResult>(result.body);
  if (!answer_) {
    answer_ = HashAnswer{result.revision, part.compact_revision, 0};
    if (asked_revision_ <= 0) request_.revision = result.revision;
  }
  if (part.compact_revision != answer_->compact_revision) return begin_again();
  sum_ += part.sum;
  request_.from = part.next_from;
  request_.below = part.next_below;
  if (!part.next_from.empty()) return go_on();
  answer_->hash = kv::fold_hash(sum_);
  caller_.finish(grpc::Status::OK, *answer_);
}

void HashCall::begin_again() {
  if (++restarts_ > kReadRestartsMax) return caller_.finish(overtaken_by_compactions(), {});
  begin();
}

}  // namespace ingot::etcd
