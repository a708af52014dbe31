#include "replication/store/txn.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "replication/store/limits.h"

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
  return version.value().compare(compare.value);
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
std::optional<bool> Txn::holds(const Compare& compare, StepBudget& steps) {
  if (!walk_) {
    walk_.emplace(compare.key, compare.range_end);
    found_ = false;
    all_ = true;
  }
  const auto each = [&](const KeyRecord&, const Version& version) {
    if (compare.target == CompareTarget::kValue) {
      steps.take(static_cast<std::int64_t>(std::min(version.value().size(), compare.value.size())) / kStepBytes);
    }
    found_ = true;
    all_ = satisfies(compare, version);
    return all_;
  };
  if (!walk_->go_on(writer_.history(), point_.current, steps, each)) return std::nullopt;
  walk_.reset();
  if (found_) return all_;
  return compare.target != CompareTarget::kValue && satisfies(compare, *Version::make());
}

// Depth first. False: the steps are spent.
bool Txn::decide(StepBudget& steps) {
  while (!undecided_.empty()) {
    const TxnRequest& request = *undecided_.back();
    bool succeeded = true;
    for (; succeeded && compare_ < request.compare.size(); ++compare_) {
      if (steps.spent()) return false;
      const std::optional<bool> holds_here = holds(request.compare[compare_], steps);
      if (!holds_here) return false;
      succeeded = *holds_here;
    }
    compare_ = 0;
    undecided_.pop_back();
    decisions_.push_back(succeeded);
    const auto& branch = branch_of(request, succeeded);
    for (auto operation = branch.rbegin(); operation != branch.rend(); ++operation) {
      if (const TxnRequest* nested = nested_in(*operation)) undecided_.push_back(nested);
    }
  }
  return true;
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
  return put->lease != 0 && !writer_.has_lease(put->lease) ? Code::kLeaseNotFound : Code::kOk;
}

// Unlike outside of a transaction, a negative revision does not mean the newest here: it lies below the compacted one.
Code Txn::check_range(const Operation& operation) const {
  const auto* range = std::get_if<RangeRequest>(&operation);
  if (!range || range->revision == 0) return Code::kOk;
  if (range->revision > point_.current) return Code::kFutureRevision;
  return range->revision < point_.compacted ? Code::kCompacted : Code::kOk;
}

Code Txn::check() {
  for (const Check each : {&Txn::check_put, &Txn::check_range}) {
    next_ = 0;
    if (const Code code = check(request_, each); code != Code::kOk) return code;
  }
  next_ = 0;
  return Code::kOk;
}

void Txn::begin(TxnRequest& request, TxnResult& result) {
  result.succeeded = next_decision();
  result.responses.reserve(branch_of(request, result.succeeded).size());
  levels_.push_back({request, result});
}

std::optional<Code> Txn::execute(const RangeRequest& request, OperationResult& result, StepBudget& steps) {
  if (!range_) range_.emplace(request, ReadPoint{writer_.revision(), point_.compacted});
  if (!range_->find(writer_.history(), steps)) return std::nullopt;
  const Code code = writer_.charge(range_->bytes());
  if (code == Code::kOk) result = range_->copy(writer_.revision());
  range_.reset();
  return code;
}

std::optional<Code> Txn::execute(const DeleteRangeRequest& request, OperationResult& result, StepBudget& steps) {
  if (!walk_) {
    walk_.emplace(request.key, request.range_end);
    result.emplace<DeleteRangeResult>();
  }
  const std::optional<Code> code = writer_.remove(request, *walk_, steps, std::get<DeleteRangeResult>(result));
  if (code) walk_.reset();
  return code;
}

std::optional<Code> Txn::execute(Operation& operation, OperationResult& result, StepBudget& steps) {
  if (const auto* range = std::get_if<RangeRequest>(&operation)) return execute(*range, result, steps);
  if (const auto* del = std::get_if<DeleteRangeRequest>(&operation)) return execute(*del, result, steps);
  steps.take();
  if (const auto* put = std::get_if<PutRequest>(&operation)) {
    return writer_.put(view_of(*put), result.emplace<PutResult>());
  }
  auto& nested = result.emplace<std::shared_ptr<TxnResult>>(std::make_shared<TxnResult>());
  begin(*std::get<std::shared_ptr<TxnRequest>>(operation), *nested);
  return Code::kOk;
}

// The operation of a nested transaction is done once that one has begun: it is then the innermost level.
std::optional<Code> Txn::execute(StepBudget& steps) {
  while (!levels_.empty()) {
    const std::size_t depth = levels_.size() - 1;
    TxnResult& result = levels_[depth].result;
    auto& branch = branch_of(levels_[depth].request, result.succeeded);
    if (levels_[depth].next == branch.size()) {
      levels_.pop_back();
      continue;
    }
    if (steps.spent()) return std::nullopt;
    if (!std::exchange(begun_, true)) {
      result.responses.emplace_back();
      if (const Code code = writer_.charge(kOperationResultBytes); code != Code::kOk) return code;
    }
    const std::optional<Code> code = execute(branch[levels_[depth].next], result.responses.back(), steps);
    if (code != Code::kOk) return code;
    begun_ = false;
    ++levels_[depth].next;
  }
  return Code::kOk;
}

std::optional<Code> Txn::go_on(StepBudget& steps) {
  if (!executing_) {
    if (!decide(steps)) return std::nullopt;
    if (const Code code = check(); code != Code::kOk) return code;
    begin(request_, result_);
    executing_ = true;
  }
  const std::optional<Code> code = execute(steps);
  if (code == Code::kOk) result_.revision = writer_.revision();
  return code;
}

}  // namespace ingot::kv
