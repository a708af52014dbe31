#include <algorithm>
#include <utility>

#include "replication/store/limits.h"
#include "services/etcd/errors.h"
#include "services/etcd/translate.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;

grpc::Status translate_txn(const pb::TxnRequest& in, int depth, kv::TxnRequest& out);

grpc::Status translate_compare(const pb::Compare& in, kv::Compare& out) {
  if (!pb::Compare::CompareResult_IsValid(in.result()) || !pb::Compare::CompareTarget_IsValid(in.target())) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "a compare's result or target is not one that etcd defines"};
  }
  out.result = static_cast<kv::CompareResult>(in.result());
  out.target = static_cast<kv::CompareTarget>(in.target());
  out.key = in.key();
  out.range_end = in.range_end();
  // A union that does not fit the target counts as 0 or empty, as in etcd: the accessors return that.
  switch (out.target) {
    case kv::CompareTarget::kVersion:
      out.number = in.version();
      break;
    case kv::CompareTarget::kCreate:
      out.number = in.create_revision();
      break;
    case kv::CompareTarget::kMod:
      out.number = in.mod_revision();
      break;
    case kv::CompareTarget::kValue:
      out.value = in.value();
      break;
    case kv::CompareTarget::kLease:
      out.number = in.lease();
      break;
  }
  return grpc::Status::OK;
}

grpc::Status translate_operation(const pb::RequestOp& in, int depth, kv::Operation& out) {
  switch (in.request_case()) {
    case pb::RequestOp::kRequestRange:
      return translate(in.request_range(), out.emplace<kv::RangeRequest>());
    case pb::RequestOp::kRequestPut:
      translate(in.request_put(), out.emplace<kv::PutRequest>());
      return grpc::Status::OK;
    case pb::RequestOp::kRequestDeleteRange:
      translate(in.request_delete_range(), out.emplace<kv::DeleteRangeRequest>());
      return grpc::Status::OK;
    case pb::RequestOp::kRequestTxn: {
      auto nested = std::make_shared<kv::TxnRequest>();
      out = nested;
      return translate_txn(in.request_txn(), depth + 1, *nested);
    }
    case pb::RequestOp::REQUEST_NOT_SET:
      break;
  }
  return to_status(kv::Code::kKeyNotFound);  // the error that etcd gives for an operation of no kind
}

grpc::Status translate_branch(const google::protobuf::RepeatedPtrField<pb::RequestOp>& in, int depth,
                              std::vector<kv::Operation>& out) {
  out.reserve(in.size());
  for (const pb::RequestOp& operation : in) {
    grpc::Status status = translate_operation(operation, depth, out.emplace_back());
    if (status.ok()) continue;
    if (!operation.has_request_txn()) out.pop_back();  // a nested transaction keeps its operations before the fault
    return status;
  }
  return grpc::Status::OK;
}

// Depth and operations are bounded before any copy, since the input is not trusted.
grpc::Status translate_txn(const pb::TxnRequest& in, int depth, kv::TxnRequest& out) {
  const int operations = std::max({in.compare_size(), in.success_size(), in.failure_size()});
  if (depth > kTxnDepthMax || operations > kTxnOperationsMax) return to_status(kv::Code::kTooManyOps);
  out.compare.resize(in.compare_size());
  for (int i = 0; i < in.compare_size(); ++i) {
    if (grpc::Status status = translate_compare(in.compare(i), out.compare[i]); !status.ok()) return status;
  }
  if (grpc::Status status = translate_branch(in.success(), depth, out.success); !status.ok()) return status;
  return translate_branch(in.failure(), depth, out.failure);
}

bool all_serializable(const google::protobuf::RepeatedPtrField<pb::RequestOp>& operations) {
  return std::all_of(operations.begin(), operations.end(), [](const pb::RequestOp& operation) {
    return operation.has_request_range() && operation.request_range().serializable();
  });
}

// All but key and value.
void translate_options(const pb::PutRequest& in, kv::PutRequest& out) {
  out.lease = in.lease();
  out.prev_kv = in.prev_kv();
  out.ignore_value = in.ignore_value();
  out.ignore_lease = in.ignore_lease();
}

}  // namespace

grpc::Status translate(const pb::RangeRequest& in, kv::RangeRequest& out) {
  if (!pb::RangeRequest::SortOrder_IsValid(in.sort_order()) ||
      !pb::RangeRequest::SortTarget_IsValid(in.sort_target())) {
    return to_status(Error::kInvalidSortOption);
  }
  out.key = in.key();
  out.range_end = in.range_end();
  out.limit = in.limit();
  out.revision = in.revision();
  out.sort_order = static_cast<kv::SortOrder>(in.sort_order());
  out.sort_target = static_cast<kv::SortTarget>(in.sort_target());
  out.keys_only = in.keys_only();
  out.count_only = in.count_only();
  out.min_mod_revision = in.min_mod_revision();
  out.max_mod_revision = in.max_mod_revision();
  out.min_create_revision = in.min_create_revision();
  out.max_create_revision = in.max_create_revision();
  return grpc::Status::OK;
}

void translate(const pb::PutRequest& in, kv::PutRequest& out) {
  out.key = in.key();
  out.value = in.value();
  translate_options(in, out);
}

void swap_in(pb::PutRequest& in, kv::PutRequest& out) {
  out.key.swap(*in.mutable_key());
  out.value.swap(*in.mutable_value());
  translate_options(in, out);
}

void translate(const pb::DeleteRangeRequest& in, kv::DeleteRangeRequest& out) {
  out.key = in.key();
  out.range_end = in.range_end();
  out.prev_kv = in.prev_kv();
}

grpc::Status translate(const pb::TxnRequest& in, kv::TxnRequest& out) { return translate_txn(in, 1, out); }

bool is_serializable(const pb::TxnRequest& txn) {
  const bool has_ranges = txn.success_size() > 0 || txn.failure_size() > 0;  // an empty one is not "serializable"
  return has_ranges && all_serializable(txn.success()) && all_serializable(txn.failure());
}

}  // namespace ingot::etcd
