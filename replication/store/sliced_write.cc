#include "replication/store/sliced_write.h"

#include <utility>
#include <variant>

namespace ingot::kv {

SlicedWrite::SlicedWrite(Request request, History& history, const ReadPoint& point, const Quota& quota,
                         const Leases& leases)
    : request_(std::move(request)), writer_(history, point.current, quota, leases) {
  if (const auto* del = std::get_if<DeleteRangeRequest>(&request_)) {
    result_.body = DeleteRangeResult();
    walk_.emplace(del->key, del->range_end);
  } else {
    txn_.emplace(writer_, point, std::get<TxnRequest>(request_), result_.body.emplace<TxnResult>());
  }
}

std::optional<Code> SlicedWrite::write(StepBudget& steps) {
  if (txn_) return txn_->go_on(steps);
  return writer_.remove(std::get<DeleteRangeRequest>(request_), *walk_, steps,
                        std::get<DeleteRangeResult>(result_.body));
}

bool SlicedWrite::go_on(StepBudget& steps) {
  if (!written_) {
    const std::optional<Code> code = write(steps);
    if (!code) return false;
    result_.code = *code;
    written_ = true;
  }
  if (result_.code != Code::kOk && !writer_.undo(steps)) return false;
  result_.revision = writer_.revision();
  return true;
}

}  // namespace ingot::kv
