#include "tests/simulation/kv_operations.h"

#include <charconv>
#include <utility>
#include <variant>

#include "replication/store/api.h"

namespace ingot::simulation {
namespace {

std::string key_name(std::uint32_t key) { return "k" + std::to_string(key); }

Value parse_value(std::string_view text) {
  Value value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Value value_found(const kv::RangeResult& range) { return range.kvs.empty() ? 0 : parse_value(range.kvs.front().value); }

kv::RangeRequest read_of(std::uint32_t key) {
  kv::RangeRequest read;
  read.key = key_name(key);
  return read;
}

kv::PutRequest write_of(const Operation& operation) {
  kv::PutRequest write;
  write.key = key_name(operation.key);
  write.value = std::to_string(operation.written);
  return write;
}

// A key that was never written has version 0; etcd knows no empty value to compare with.
kv::Compare expectation_of(const Operation& operation) {
  kv::Compare compare;
  compare.key = key_name(operation.key);
  if (operation.expected != 0) {
    compare.target = kv::CompareTarget::kValue;
    compare.value = std::to_string(operation.expected);
  }
  return compare;
}

kv::TxnRequest compare_and_write(const Operation& operation) {
  kv::TxnRequest txn;
  txn.compare.push_back(expectation_of(operation));
  txn.success.emplace_back(write_of(operation));
  txn.failure.emplace_back(read_of(operation.key));
  return txn;
}

// A put of a key that sorts behind those of the registers; by its number also deletes of all such keys, before it, or
// before and after it. Of one key that leaves a delete, a put and a delete at one revision.
kv::TxnRequest churn_of(Value number) {
  constexpr Value kKeys = 3;
  kv::DeleteRangeRequest from_key_on;
  from_key_on.key = "x";
  from_key_on.range_end = std::string(1, '\0');
  kv::PutRequest put;
  put.key = "x" + std::to_string(number / 3 % kKeys);
  put.value = std::to_string(number);
  kv::TxnRequest txn;
  if (number % 3 > 0) txn.success.emplace_back(from_key_on);
  txn.success.emplace_back(put);
  if (number % 3 > 1) txn.success.emplace_back(from_key_on);
  return txn;
}

// Of every fifth number: a grant, a put with the lease, a keep-alive or a revocation of one of a few leases.
bool is_of_lease(const Operation& operation) {
  return operation.kind == Operation::Kind::kChurn && operation.written % 5 == 0;
}

kv::Request lease_command_of(Value number) {
  constexpr Value kLeases = 3;
  const std::int64_t id = 1 + number / 5 % kLeases;
  switch (number / 5 / kLeases % 6) {
    case 0:
    case 1:
      return kv::LeaseGrantRequest{id, 2};
    case 2:
      return kv::LeaseRevokeRequest{id};
    case 3:
      return kv::LeaseKeepAliveRequest{{id}};
    default:
      kv::PutRequest put;
      put.key = "y" + std::to_string(number / 5 % 7);
      put.value = std::to_string(number);
      put.lease = id;
      return put;
  }
}

bool take_txn(const kv::TxnResult& txn, Operation& operation) {
  if (txn.responses.size() != 1) return false;
  operation.succeeded = txn.succeeded;
  if (txn.succeeded) return true;
  const auto* range = std::get_if<kv::RangeResult>(&txn.responses.front());
  if (range == nullptr) return false;
  operation.found = value_found(*range);
  return true;
}

}  // namespace

std::string encode_operation(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kRead:
      return kv::encode(kv::Request(read_of(operation.key)));
    case Operation::Kind::kWrite:
      return kv::encode(kv::Request(write_of(operation)));
    case Operation::Kind::kCompareAndWrite:
      return kv::encode(kv::Request(compare_and_write(operation)));
    case Operation::Kind::kChurn:
      if (is_of_lease(operation)) return kv::encode(lease_command_of(operation.written));
      return kv::encode(kv::Request(churn_of(operation.written)));
    case Operation::Kind::kCompact:
      return kv::encode(kv::Request(kv::CompactRequest{operation.expected}));
    case Operation::Kind::kDisarm:
      return kv::encode(kv::Request(kv::AlarmRequest{kv::AlarmRequest::Action::kDeactivate}));
  }
  return {};
}

bool decode_answer(std::string_view bytes, Operation& operation) {
  const auto result = kv::decode_result(bytes);
  if (!result.ok()) return false;
  operation.revision = result->revision;
  const bool compacts = operation.kind == Operation::Kind::kCompact;
  const bool puts = operation.kind == Operation::Kind::kWrite || operation.kind == Operation::Kind::kCompareAndWrite ||
                    operation.kind == Operation::Kind::kChurn;
  operation.no_space = puts && result->code == kv::Code::kNoSpace;
  if (operation.no_space || (compacts && result->code == kv::Code::kCompacted)) return true;
  const bool refused_lease = result->code == kv::Code::kLeaseExists || result->code == kv::Code::kLeaseNotFound;
  if (is_of_lease(operation) && (refused_lease || result->code == kv::Code::kOk)) return true;
  if (result->code != kv::Code::kOk) return false;
  switch (operation.kind) {
    case Operation::Kind::kRead: {
      const auto* range = std::get_if<kv::RangeResult>(&result->body);
      if (range == nullptr) return false;
      operation.found = value_found(*range);
      return true;
    }
    case Operation::Kind::kWrite:
      return std::holds_alternative<kv::PutResult>(result->body);
    case Operation::Kind::kCompareAndWrite: {
      const auto* txn = std::get_if<kv::TxnResult>(&result->body);
      return txn != nullptr && take_txn(*txn, operation);
    }
    case Operation::Kind::kChurn:
      return std::holds_alternative<kv::TxnResult>(result->body);
    case Operation::Kind::kCompact:
      return std::holds_alternative<kv::CompactResult>(result->body);
    case Operation::Kind::kDisarm:
      return std::holds_alternative<kv::AlarmResult>(result->body);
  }
  return false;
}

Value operation_of_command(std::string_view command) {
  const auto request = kv::decode_request(command);
  if (!request.ok()) return 0;
  const auto* put = std::get_if<kv::PutRequest>(&*request);
  if (const auto* txn = std::get_if<kv::TxnRequest>(&*request); txn != nullptr && !txn->success.empty()) {
    put = std::get_if<kv::PutRequest>(&txn->success.front());
  }
  return put == nullptr ? 0 : parse_value(put->value);
}

}  // namespace ingot::simulation
