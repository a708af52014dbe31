// Transactions: compare, choose a branch at every level, check, and only then write.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "replication/store/api.h"
#include "replication/store/range.h"
#include "replication/store/range_walk.h"
#include "replication/store/writer.h"

namespace ingot::kv {

// Carries out one valid transaction, nested ones included, by the rules of etcd 3.4. Every branch is decided on the
// state before the transaction. Puts, then ranges, of the chosen branches are checked on that state, too. So after the
// first write only a bound can fail, and then the caller undoes every write.
//
// It rests where the steps are spent: in a compare, in a range, in a delete, or between two of them. Meanwhile no other
// transaction writes; if this one writes, too, nothing else changes the history.
class Txn {
 public:
  // REQUIRES: `point` describes the history before the writer's first change. The references outlive this.
  Txn(Writer& writer, const ReadPoint& point, TxnRequest& request, TxnResult& result)
      : writer_(writer), point_(point), request_(request), result_(result), undecided_{&request} {}

  // Goes on; nothing: the steps are spent. On any code but kOk what the writer has done is to be undone. Moves the
  // values out of the puts.
  std::optional<Code> go_on(StepBudget& steps);

 private:
  using Check = Code (Txn::*)(const Operation&) const;
  // A transaction that is carried out, and its next operation.
  struct Level {
    TxnRequest& request;
    TxnResult& result;
    std::size_t next = 0;
  };

  std::optional<bool> holds(const Compare& compare, StepBudget& steps);
  bool decide(StepBudget& steps);
  Code check();
  Code check(const TxnRequest& request, Check each);
  Code check_put(const Operation& operation) const;
  Code check_range(const Operation& operation) const;
  void begin(TxnRequest& request, TxnResult& result);
  std::optional<Code> execute(StepBudget& steps);
  std::optional<Code> execute(Operation& operation, OperationResult& result, StepBudget& steps);
  std::optional<Code> execute(const RangeRequest& request, OperationResult& result, StepBudget& steps);
  std::optional<Code> execute(const DeleteRangeRequest& request, OperationResult& result, StepBudget& steps);

  // Whether the next transaction, in depth-first order through the chosen branches, succeeded.
  bool next_decision() { return decisions_[next_++]; }

  Writer& writer_;
  const ReadPoint point_;
  TxnRequest& request_;
  TxnResult& result_;
  std::vector<const TxnRequest*> undecided_;  // the next one last
  std::size_t compare_ = 0;                   // of it, to be looked at
  bool found_ = false, all_ = true;           // what that compare has found so far
  std::vector<bool> decisions_;
  std::size_t next_ = 0;
  bool executing_ = false;
  std::vector<Level> levels_;           // nested in one another, the innermost last
  bool begun_ = false;                  // the next operation has its place in the result
  std::optional<RangeWalk> walk_;       // of the compare, or of a delete
  std::optional<RangeAnswer> range_;
};

}  // namespace ingot::kv
