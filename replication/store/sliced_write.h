// A command that may change or look at any number of keys: a delete or a transaction, carried out in steps.
#pragma once

#include <optional>

#include "replication/store/api.h"
#include "replication/store/quota.h"
#include "replication/store/range.h"
#include "replication/store/txn.h"
#include "replication/store/writer.h"

namespace ingot::kv {

// Everything that it writes has the revision after `point.current`, so a reader that stays at that one sees none of it.
// Not thread-safe.
class SlicedWrite {
 public:
  static bool takes(const Request& request) {
    return std::holds_alternative<DeleteRangeRequest>(request) || std::holds_alternative<TxnRequest>(request);
  }

  // REQUIRES: takes(request), and it is valid. `point` is the store's. History and leases outlive this, and are
  // changed by nothing else meanwhile.
  SlicedWrite(Request request, History& history, const ReadPoint& point, const Quota& quota, const Leases& leases);
  SlicedWrite(const SlicedWrite&) = delete;
  SlicedWrite& operator=(const SlicedWrite&) = delete;

  // Goes on; false: the steps are spent. Once it is true, all is written and the result is there, or all is taken back
  // and the result has the code that says why.
  bool go_on(StepBudget& steps);

  const Result& result() const { return result_; }

 private:
  std::optional<Code> write(StepBudget& steps);

  Request request_;
  Writer writer_;
  Result result_;
  std::optional<RangeWalk> walk_;  // of a delete
  std::optional<Txn> txn_;
  bool written_ = false;
};

}  // namespace ingot::kv
