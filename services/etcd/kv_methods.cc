#include "services/etcd/kv_methods.h"

#include <algorithm>
#include <string>
#include <utility>

#include "replication/store/limits.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/parse.h"
#include "services/etcd/range_call.h"
#include "services/etcd/store_answer.h"
#include "services/etcd/store_request.h"
#include "services/etcd/translate.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;

// etcd reports the first of several faults. `request` holds the operations before the fault `found` by translation, and
// one of them may be invalid; but etcd compares keys for duplicates only after every operation has been found valid.
grpc::Status first_fault(const kv::Request& request, const grpc::Status& found) {
  const kv::Code code = kv::validate(request);
  return code == kv::Code::kOk || code == kv::Code::kDuplicateKey ? found : to_status(code);
}

// etcd's count, as the store's (replication/store/validate.cc): nested transactions share what their parent's longest
// list leaves.
bool too_many(const pb::TxnRequest& txn, int operations_max) {
  const int left = operations_max - std::max({txn.compare_size(), txn.success_size(), txn.failure_size()});
  const auto nested = [left](const pb::RequestOp& operation) {
    return operation.has_request_txn() && too_many(operation.request_txn(), left);
  };
  return left < 0 || std::any_of(txn.success().begin(), txn.success().end(), nested) ||
         std::any_of(txn.failure().begin(), txn.failure().end(), nested);
}

// One value may be as long as a request.
rpc::Method::Weight weigh_range(std::string_view request) {
  return may_be_large(request) ? rpc::Method::Weight::kLarge : rpc::Method::Weight::kUnknown;
}

}  // namespace

void KvMethods::add_to(rpc::Methods& methods) {
  using Weight = rpc::Method::Weight;
  const auto add = [&](const char* path, void (KvMethods::*serve)(rpc::Call, std::string_view),
                       Weight weight = Weight::kSmall) {
    rpc::Method method;
    method.weight = weight;
    method.unary = [this, serve](rpc::Call caller, std::string_view bytes) { (this->*serve)(caller, bytes); };
    if (serve == &KvMethods::range) method.weigh = weigh_range;
    methods.add(path, std::move(method));
  };
  add("/etcdserverpb.KV/Range", &KvMethods::range);
  add("/etcdserverpb.KV/Put", &KvMethods::put);
  add("/etcdserverpb.KV/DeleteRange", &KvMethods::delete_range, Weight::kUnknown);
  add("/etcdserverpb.KV/Txn", &KvMethods::txn, Weight::kUnknown);
  add("/etcdserverpb.KV/Compact", &KvMethods::compact);
}

void KvMethods::range(rpc::Call caller, std::string_view bytes) {
  pb::RangeRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kKvRange);
  kv::RangeRequest request;
  if (grpc::Status status = translate(message, request); !status.ok()) return call.finish(status);
  if (request.key.empty()) return call.finish(to_status(kv::Code::kEmptyKey));
  RangeCall::start(range_parts_, std::move(request), message.serializable(), call);
}

void KvMethods::put(rpc::Call caller, std::string_view bytes) {
  if (bytes.size() > kReusedMessageBytesMax) {
    pb::PutRequest message;
    kv::Request request(std::in_place_type<kv::PutRequest>);
    if (!parse(caller, bytes, message)) return;
    const LoopCall call(caller, metrics_, Method::kKvPut);
    swap_in(message, std::get<kv::PutRequest>(request));
    return submit<kv::PutResult, pb::PutResponse>(call, RequestKind::kCommand, request);
  }
  if (!parse(caller, bytes, put_message_)) return;
  const LoopCall call(caller, metrics_, Method::kKvPut);
  swap_in(put_message_, std::get<kv::PutRequest>(put_request_));
  submit<kv::PutResult, pb::PutResponse>(call, RequestKind::kCommand, put_request_);
}

void KvMethods::delete_range(rpc::Call caller, std::string_view bytes) {
  pb::DeleteRangeRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kKvDeleteRange);
  kv::Request request(std::in_place_type<kv::DeleteRangeRequest>);
  translate(message, std::get<kv::DeleteRangeRequest>(request));
  submit<kv::DeleteRangeResult, pb::DeleteRangeResponse>(call, RequestKind::kCommand, request);
}

void KvMethods::txn(rpc::Call caller, std::string_view bytes) {
  pb::TxnRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kKvTxn);
  const int operations_max = header_.config().max_txn_ops;  // the store itself takes up to kTxnOperationsMax
  if (operations_max < kTxnOperationsMax && too_many(message, operations_max)) {
    return call.finish(to_status(kv::Code::kTooManyOps));
  }
  kv::Request request(std::in_place_type<kv::TxnRequest>);
  grpc::Status status = translate(message, std::get<kv::TxnRequest>(request));
  if (!status.ok()) return call.finish(first_fault(request, status));
  RequestKind kind = RequestKind::kCommand;
  if (!kv::is_mutating(request)) {
    kind = is_serializable(message) ? RequestKind::kLocalQuery : RequestKind::kLinearizableQuery;
  }
  submit<kv::TxnResult, pb::TxnResponse>(call, kind, request);
}

// `physical` asks to wait until the space is free; here a compaction is complete when it is answered.
void KvMethods::compact(rpc::Call caller, std::string_view bytes) {
  pb::CompactionRequest message;
  if (!parse(caller, bytes, message)) return;
  const LoopCall call(caller, metrics_, Method::kKvCompact);
  const kv::Request request(kv::CompactRequest{message.revision()});
  submit<kv::CompactResult, pb::CompactionResponse>(call, RequestKind::kCommand, request);
}

template <typename Body, typename Response>
void KvMethods::submit(const LoopCall& call, RequestKind kind, const kv::Request& request) {
  if (kv::Code code = kv::validate(request); code != kv::Code::kOk) return call.finish(to_status(code));
  std::string payload;
  if (grpc::Status status = to_payload(request, payload); !status.ok()) return call.finish(status);
  if (kind == RequestKind::kCommand && std::cmp_greater(payload.size(), header_.config().max_request_bytes)) {
    return call.finish(to_status(Error::kRequestTooLarge));
  }
  client_.submit(kind, std::move(payload),
                 [this, call](const ReplicaReply& reply) { answer<Body, Response>(call, reply); });
}

template <typename Body, typename Response>
void KvMethods::answer(const LoopCall& call, const ReplicaReply& reply) {
  kv::Result result;
  if (grpc::Status status = open<Body>(reply, result); !status.ok()) return call.finish(status);
  const auto send = [&](Response& response) {
    header_.fill(response.mutable_header());
    response.mutable_header()->set_revision(result.revision);
    translate(std::get<Body>(std::move(result.body)), &response);
    call.answer(response);
  };
  if constexpr (std::is_same_v<Response, pb::PutResponse>) {
    if (reply.payload.size() <= kReusedMessageBytesMax) {
      put_response_.clear_prev_kv();
      return send(put_response_);
    }
  }
  Response response;
  send(response);
}

}  // namespace ingot::etcd
