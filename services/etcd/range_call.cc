#include "services/etcd/range_call.h"

#include <string>
#include <utility>

#include "replication/requests/limits.h"
#include "services/etcd/call.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/translate.h"

namespace ingot::etcd {

void RangeCall::start(ReplicaClient& client, kv::RangeRequest request, bool serializable,
                      etcdserverpb::RangeResponse* response, grpc::CallbackServerContext* context,
                      const Call& call) {
  (new RangeCall(client, std::move(request), serializable, response, context, call))->begin();
}

RangeCall::RangeCall(ReplicaClient& client, kv::RangeRequest request, bool serializable,
                     etcdserverpb::RangeResponse* response, grpc::CallbackServerContext* context, const Call& call)
    : client_(client),
      request_(std::move(request)),
      asked_revision_(request_.revision),
      serializable_(serializable),
      response_(response),
      context_(context),
      call_(call) {}

void RangeCall::begin() {
  request_.page = true;
  request_.offset = 0;
  request_.revision = asked_revision_;
  response_->clear_kvs();
  answer_bytes_ = 0;
  ask(serializable_ ? RequestKind::kLocalQuery : RequestKind::kLinearizableQuery);
}

void RangeCall::ask(RequestKind kind) {
  last_kind_ = kind;
  std::string payload = kv::encode(kv::Request(request_));
  if (payload.size() > kRequestBytesMax) return finish(to_status(Error::kRequestTooLarge));
  client_.submit(kind, std::move(payload), [this](const ReplicaReply& reply) { take(reply); });
}

void RangeCall::take(const ReplicaReply& reply) {
  kv::Result result;
  grpc::Status status = open<kv::RangeResult>(reply, result);
  if (status.ok()) return take_page(std::move(result));
  if (!is_first_page() && result.code == kv::Code::kFutureRevision && last_kind_ == RequestKind::kLocalQuery) {
    return ask(RequestKind::kLinearizableQuery);
  }
  if (!is_first_page() && result.code == kv::Code::kCompacted && asked_revision_ <= 0) return begin_again();
  finish(status);
}

void RangeCall::take_page(kv::Result&& result) {
  auto& page = std::get<kv::RangeResult>(result.body);
  const std::int64_t next_offset = page.next_offset;
  for (const kv::KeyValue& entry : page.kvs) answer_bytes_ += entry.key.size() + entry.value.size();
  if (answer_bytes_ > kRangeBytesMax) return finish(answer_too_large(kRangeBytesMax));
  if (is_first_page()) {
    response_->mutable_header()->set_revision(result.revision);
    if (asked_revision_ <= 0) request_.revision = result.revision;
  }
  translate(std::move(page), response_);
  if (next_offset == 0) return finish(grpc::Status::OK);
  if (context_->IsCancelled()) return finish({grpc::StatusCode::CANCELLED, "the caller has gone"});
  request_.offset = next_offset;
  ask(RequestKind::kLocalQuery);
}

void RangeCall::begin_again() {
  if (++restarts_ > kRangeRestartsMax) {
    return finish({grpc::StatusCode::UNAVAILABLE,
                   "compactions kept overtaking this range while it was read; ask again, or for fewer keys"});
  }
  begin();
}

void RangeCall::finish(const grpc::Status& status) {
  call_.finish(status);
  delete this;
}

}  // namespace ingot::etcd
