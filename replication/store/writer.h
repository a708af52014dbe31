// One mutating transaction on the history: puts and deletes under one new revision, which can be taken back as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "replication/store/api.h"
#include "replication/store/codec.h"
#include "replication/store/history.h"
#include "replication/store/leases.h"
#include "replication/store/quota.h"
#include "replication/store/range_walk.h"

namespace ingot::kv {

// Not thread-safe; lives for one command. There is no commit step: changes stay unless they are undone. Until the store
// goes over to their revision, reads do not see them.
class Writer {
 public:
  // `base` is the store's revision; changes get the next one.
  Writer(History& history, Revision base, const Quota& quota, const Leases& leases)
      : history_(history), changed_(&history), base_(base), quota_(quota), leases_(&leases) {}
  // For a transaction that only reads: put and remove are then a bug.
  Writer(const History& history, Revision base) : history_(history), base_(base) {}

  // REQUIRES: the request is valid. kKeyNotFound, kLeaseNotFound, kNoSpace: nothing changed.
  Code put(const PutView& request, PutResult& result);
  // Goes on with a delete whose walk is over the request's range. Nothing: the steps are spent. kResultTooLarge,
  // kNoSpace: the keys deleted so far stay deleted until undo().
  std::optional<Code> remove(const DeleteRangeRequest& request, RangeWalk& walk, StepBudget& steps,
                             DeleteRangeResult& result);

  // Deletes a key that is attached to a lease: the quota has counted its tombstone since it was attached.
  // REQUIRES: the key exists.
  void remove_attached(std::string_view key) {
    changed_->append(key, next_version(Version::make()));
  }

  bool has_lease(std::int64_t id) const { return leases_ != nullptr && leases_->contains(id); }

  // The revision that reads within the transaction see.
  Revision revision() const { return changes_ == 0 ? base_ : base_ + 1; }
  const History& history() const { return history_; }

  // Adds to the bytes of the answer; returns kResultTooLarge once they exceed kResultBytesMax.
  Code charge(std::size_t bytes);

  // Takes changes back. False: the steps are spent, and some are left.
  bool undo(StepBudget& steps);

 private:
  Version::Owner next_version(Version::Owner version);
  std::int64_t counted() const { return history_.counted().sum() + leases_->counted(); }

  const History& history_;
  History* const changed_ = nullptr;  // the same, or null
  const Revision base_;
  const Quota quota_;
  const Leases* const leases_ = nullptr;
  std::uint32_t changes_ = 0;
  std::size_t result_bytes_ = 0;
};

}  // namespace ingot::kv
