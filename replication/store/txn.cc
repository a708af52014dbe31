#include "replication/store/txn.h"

#include <memory>
#include <utility>

namespace ingot::kv {
namespace {

// Bytes of an operation's result besides its keys and values, rounded up.
constexpr std::size_t kOperationResultBytes = 32;

const TxnRequest* nested_in(const Operation& operation) {
  const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation);
  return nested ? nested->get() : nullptr;
}

template <typename Request>
auto& branch_of(Request& request, bool succeeded) {
  return succeeded ? request.success : request.failure;
}

// Sign of the version's field minus the request's value.
int compare_field(const Compare& compare, const Version& version) {
  const auto sign = [&](std::int64_t field) { return field < compare.number ? -1 : field > compare.number ? 1 : 0; };
  switch (compare.target) {
    case CompareTarget::kVersion:
      return sign(version.version);
    case CompareTarget::kCreate:
      return sign(version.create_revision);
    case CompareTarget::kMod:
      return sign(version.mod_revision);
    case CompareTarget::kLease:
      return sign(version.lease);
    case CompareTarget::kValue:
      break;
  }
  return version.value.compare(compare.value);
}

bool satisfies(const Compare& compare, const Version& version) {
  const int sign = compare_field(compare, version);
  switch (compare.result) {
    case CompareResult::kEqual:
      return sign == 0;
    case CompareResult::kNotEqual:
      return sign != 0;
    case CompareResult::kGreater:
      return sign > 0;
    case CompareResult::kLess:
      break;
  }
  return sign < 0;
}

}  // namespace

// Every key of the range must satisfy the compare. An empty range is compared as a key of zeros, except for values: an
// absent value equals nothing and differs from nothing.
bool Txn::holds(const Compare& compare) const {
  bool found = false, all = true;
  writer_.history().visit(KeyRange(compare.key, compare.range_end), point_.current,
                          [&](const KeyRecord&, const Version& version) {
                            found = true;
                            all = satisfies(compare, version);
                            return all;
                          });
  if (found) return all;
  return compare.target != CompareTarget::kValue && satisfies(compare, Version{});
}

void Txn::decide(const TxnRequest& request) {
  bool succeeded = true;
  for (const Compare& compare : request.compare) succeeded = succeeded && holds(compare);
  decisions_.push_back(succeeded);
  for (const Operation& operation : branch_of(request, succeeded)) {
    if (const TxnRequest* nested = nested_in(operation)) decide(*nested);
  }
}

Code Txn::check(const TxnRequest& request, Check each) {
  for (const Operation& operation : branch_of(request, next_decision())) {
    const TxnRequest* nested = nested_in(operation);
    const Code code = nested ? check(*nested, each) : (this->*each)(operation);
    if (code != Code::kOk) return code;
  }
  return Code::kOk;
}

// etcd checks for the key first here, though for the lease first in a put outside of a transaction.
Code Txn::check_put(const Operation& operation) const {
  const auto* put = std::get_if<PutRequest>(&operation);
  if (!put) return Code::kOk;
  if (put->ignore_value || put->ignore_lease) {
    const KeyRecord* record = writer_.history().find(put->key);
    if (!record || record->newest().tombstone()) return Code::kKeyNotFound;
  }
  return put->lease != 0 ? Code::kLeaseNotFound : Code::kOk;
}

// Unlike outside of a transaction, a negative revision does not mean the newest here: it lies below the compacted one.
Code Txn::check_range(const Operation& operation) const {
  const auto* range = std::get_if<RangeRequest>(&operation);
  if (!range || range->revision == 0) return Code::kOk;
  if (range->revision > point_.current) return Code::kFutureRevision;
  return range->revision < point_.compacted ? Code::kCompacted : Code::kOk;
}

Code Txn::execute(const RangeRequest& request, OperationResult& result) {
  const RangeAnswer answer(writer_.history(), request, {writer_.revision(), point_.compacted});
  const Code code = writer_.charge(answer.bytes());
  if (code == Code::kOk) result = answer.copy(writer_.revision());
  return code;
}

Code Txn::execute(Operation& operation, OperationResult& result) {
  if (const Code code = writer_.charge(kOperationResultBytes); code != Code::kOk) return code;
  if (const auto* range = std::get_if<RangeRequest>(&operation)) return execute(*range, result);
  if (auto* put = std::get_if<PutRequest>(&operation)) return writer_.put(*put, result.emplace<PutResult>());
  if (const auto* del = std::get_if<DeleteRangeRequest>(&operation)) {
    return writer_.remove(*del, result.emplace<DeleteRangeResult>());
  }
  auto& nested = result.emplace<std::shared_ptr<TxnResult>>(std::make_shared<TxnResult>());
  return execute(*std::get<std::shared_ptr<TxnRequest>>(operation), *nested);
}

Code Txn::execute(TxnRequest& request, TxnResult& result) {
  result.succeeded = next_decision();
  auto& branch = branch_of(request, result.succeeded);
  result.responses.reserve(branch.size());
  for (Operation& operation : branch) {
    const Code code = execute(operation, result.responses.emplace_back());
    if (code != Code::kOk) return code;
  }
  return Code::kOk;
}

Code Txn::run(TxnRequest& request, TxnResult& result) {
  decide(request);
  for (const Check each : {&Txn::check_put, &Txn::check_range}) {
    next_ = 0;
    if (const Code code = check(request, each); code != Code::kOk) return code;
  }
  next_ = 0;
  const Code code = execute(request, result);
  if (code != Code::kOk) writer_.undo();
  result.revision = writer_.revision();
  return code;
}

}  // namespace ingot::kv
