#include <utility>

#include "services/etcd/translate.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;

void translate_operation(kv::RangeResult&& in, pb::ResponseOp* out) {
  out->mutable_response_range()->mutable_header()->set_revision(in.revision);
  translate(std::move(in), out->mutable_response_range());
}

void translate_operation(kv::PutResult&& in, pb::ResponseOp* out) {
  out->mutable_response_put()->mutable_header()->set_revision(in.revision);
  translate(std::move(in), out->mutable_response_put());
}

void translate_operation(kv::DeleteRangeResult&& in, pb::ResponseOp* out) {
  out->mutable_response_delete_range()->mutable_header()->set_revision(in.revision);
  translate(std::move(in), out->mutable_response_delete_range());
}

void translate_operation(std::shared_ptr<kv::TxnResult>&& in, pb::ResponseOp* out) {
  out->mutable_response_txn()->mutable_header()->set_revision(in->revision);
  translate(std::move(*in), out->mutable_response_txn());
}

}  // namespace

void translate(kv::KeyValue&& in, mvccpb::KeyValue* out) {
  out->set_key(std::move(in.key));
  out->set_value(std::move(in.value));
  out->set_create_revision(in.create_revision);
  out->set_mod_revision(in.mod_revision);
  out->set_version(in.version);
  out->set_lease(in.lease);
}

void translate(kv::RangeResult&& in, pb::RangeResponse* out) {
  out->set_more(in.more);
  out->set_count(in.count);
  out->mutable_kvs()->Reserve(out->kvs_size() + static_cast<int>(in.kvs.size()));
  for (kv::KeyValue& entry : in.kvs) translate(std::move(entry), out->add_kvs());
}

void translate(kv::PutResult&& in, pb::PutResponse* out) {
  if (in.has_prev) translate(std::move(in.prev), out->mutable_prev_kv());
}

void translate(kv::DeleteRangeResult&& in, pb::DeleteRangeResponse* out) {
  out->set_deleted(in.deleted);
  for (kv::KeyValue& entry : in.prev) translate(std::move(entry), out->add_prev_kvs());
}

void translate(kv::TxnResult&& in, pb::TxnResponse* out) {
  out->set_succeeded(in.succeeded);
  out->mutable_responses()->Reserve(static_cast<int>(in.responses.size()));
  for (kv::OperationResult& result : in.responses) {
    std::visit([out](auto& body) { translate_operation(std::move(body), out->add_responses()); }, result);
  }
}

void translate(kv::AlarmResult&& in, pb::AlarmResponse* out) {
  if (!in.no_space) return;
  pb::AlarmMember* alarm = out->add_alarms();
  alarm->set_memberid(out->header().member_id());
  alarm->set_alarm(pb::NOSPACE);
}

}  // namespace ingot::etcd
