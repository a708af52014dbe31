// etcdserverpb.KV. A call is checked and translated on gRPC's thread, and finished on the client's loop.
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/etcd/call.h"
#include "services/etcd/errors.h"
#include "services/etcd/header.h"
#include "services/etcd/range_call.h"
#include "services/etcd/services.h"
#include "services/etcd/translate.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

// etcd reports the first of several faults. `request` holds the operations before the fault `found` by translation, and
// one of them may be invalid; but etcd compares keys for duplicates only after every operation has been found valid.
grpc::Status first_fault(const kv::Request& request, const grpc::Status& found) {
  const kv::Code code = kv::validate(request);
  return code == kv::Code::kOk || code == kv::Code::kDuplicateKey ? found : to_status(code);
}

class KvService final : public pb::KV::CallbackService {
 public:
  KvService(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : client_(client), header_(config, view), metrics_(metrics) {}

  Reactor* Range(Context* context, const pb::RangeRequest* in, pb::RangeResponse* out) override {
    const Call call(context, metrics_, Method::kKvRange);
    kv::RangeRequest request;
    if (grpc::Status status = translate(*in, request); !status.ok()) return call.finish(status);
    if (request.key.empty()) return call.finish(to_status(kv::Code::kEmptyKey));
    header_.fill(out->mutable_header());
    RangeCall::start(client_, std::move(request), in->serializable(), out, context, call);
    return call.reactor();
  }

  Reactor* Put(Context* context, const pb::PutRequest* in, pb::PutResponse* out) override {
    const Call call(context, metrics_, Method::kKvPut);
    kv::Request request(std::in_place_type<kv::PutRequest>);
    translate(*in, std::get<kv::PutRequest>(request));
    return answer<kv::PutResult>(call, RequestKind::kCommand, request, out);
  }

  Reactor* DeleteRange(Context* context, const pb::DeleteRangeRequest* in, pb::DeleteRangeResponse* out) override {
    const Call call(context, metrics_, Method::kKvDeleteRange);
    kv::Request request(std::in_place_type<kv::DeleteRangeRequest>);
    translate(*in, std::get<kv::DeleteRangeRequest>(request));
    return answer<kv::DeleteRangeResult>(call, RequestKind::kCommand, request, out);
  }

  Reactor* Txn(Context* context, const pb::TxnRequest* in, pb::TxnResponse* out) override {
    const Call call(context, metrics_, Method::kKvTxn);
    kv::Request request(std::in_place_type<kv::TxnRequest>);
    grpc::Status status = translate(*in, std::get<kv::TxnRequest>(request));
    if (!status.ok()) return call.finish(first_fault(request, status));
    RequestKind kind = RequestKind::kCommand;
    if (!kv::is_mutating(request)) {
      kind = is_serializable(*in) ? RequestKind::kLocalQuery : RequestKind::kLinearizableQuery;
    }
    return answer<kv::TxnResult>(call, kind, request, out);
  }

  // `physical` asks to wait until the space is free; here a compaction is complete when it is answered.
  Reactor* Compact(Context* context, const pb::CompactionRequest* in, pb::CompactionResponse* out) override {
    const Call call(context, metrics_, Method::kKvCompact);
    const kv::Request request(kv::CompactRequest{in->revision()});
    return answer<kv::CompactResult>(call, RequestKind::kCommand, request, out);
  }

 private:
  template <typename Body, typename Response>
  Reactor* answer(const Call& call, RequestKind kind, const kv::Request& request, Response* out) {
    if (kv::Code code = kv::validate(request); code != kv::Code::kOk) return call.finish(to_status(code));
    header_.fill(out->mutable_header());
    return submit<Body>(client_, kind, request, out, call);
  }

  ReplicaClient& client_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_kv_service(ReplicaClient& client, const DaemonConfig& config,
                                               const InstanceView& view, RequestMetrics& metrics) {
  return std::make_unique<KvService>(client, config, view, metrics);
}

}  // namespace ingot::etcd
