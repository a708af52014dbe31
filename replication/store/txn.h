// Transactions: compare, choose a branch at every level, check, and only then write.
#pragma once

#include <vector>

#include "replication/store/api.h"
#include "replication/store/range.h"
#include "replication/store/writer.h"

namespace ingot::kv {

// Carries out one valid transaction, nested ones included, by the rules of etcd 3.4. Every branch is decided on the
// state before the transaction. Puts, then ranges, of the chosen branches are checked on that state, too. So after the
// first write only a bound can fail, and then every write is undone.
class Txn {
 public:
  // REQUIRES: `point` describes the history before the writer's first change.
  Txn(Writer& writer, const ReadPoint& point) : writer_(writer), point_(point) {}

  // On any code but kOk nothing has changed. Moves the values out of the puts.
  Code run(TxnRequest& request, TxnResult& result);

 private:
  using Check = Code (Txn::*)(const Operation&) const;

  bool holds(const Compare& compare) const;
  void decide(const TxnRequest& request);
  Code check(const TxnRequest& request, Check each);
  Code check_put(const Operation& operation) const;
  Code check_range(const Operation& operation) const;
  Code execute(TxnRequest& request, TxnResult& result);
  Code execute(Operation& operation, OperationResult& result);
  Code execute(const RangeRequest& request, OperationResult& result);

  // Whether the next transaction, in depth-first order through the chosen branches, succeeded.
  bool next_decision() { return decisions_[next_++]; }

  Writer& writer_;
  const ReadPoint point_;
  std::vector<bool> decisions_;
  std::size_t next_ = 0;
};

}  // namespace ingot::kv
