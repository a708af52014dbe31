#include "replication/store/writer.h"

#include <utility>

#include "core/check.h"
#include "replication/store/limits.h"

namespace ingot::kv {

// Gives a version its place among the changes.
Version::Owner Writer::next_version(Version::Owner version) {
  INGOT_CHECK(changed_ != nullptr, "a transaction that only reads wrote");
  version->mod_revision = base_ + 1;
  version->sub = changes_++;
  return version;
}

Code Writer::put(const PutView& request, PutResult& result) {
  if (request.lease != 0 && !has_lease(request.lease)) return Code::kLeaseNotFound;
  const KeyRecord* record = history_.find(request.key);
  const Version* previous = record && !record->newest().tombstone() ? &record->newest() : nullptr;
  if (!previous && (request.ignore_value || request.ignore_lease)) return Code::kKeyNotFound;
  if (previous && request.prev_kv) {
    result.has_prev = true;
    result.prev = to_key_value(view_of(*record, *previous));
    if (charge(encoded_size(view_of(*record, *previous))) != Code::kOk) return Code::kResultTooLarge;
  }
  Version::Owner version = Version::make(request.ignore_value ? previous->value() : request.value);
  version->create_revision = previous ? previous->create_revision : base_ + 1;
  version->version = previous ? previous->version + 1 : 1;
  version->lease = request.ignore_lease ? previous->lease : request.lease;
  const std::int64_t added =
      counted_version(version->value().size()) + (previous ? 0 : counted_key(request.key.size())) +
      counted_attachment(version->lease) - counted_attachment(previous ? previous->lease : 0);
  if (counted() + added > quota_.puts_max()) return Code::kNoSpace;
  if (record) changed_->append(*record, next_version(std::move(version)));
  else changed_->append(request.key, next_version(std::move(version)));
  result.revision = revision();
  return Code::kOk;
}

std::optional<Code> Writer::remove(const DeleteRangeRequest& request, RangeWalk& walk, StepBudget& steps,
                                   DeleteRangeResult& result) {
  Code code = Code::kOk;
  const auto remove_one = [&](const KeyRecord& record, const Version& version) {
    const std::int64_t added = counted_version(0) - counted_attachment(version.lease);
    if (counted() + added > quota_.deletes_max()) code = Code::kNoSpace;
    if (code != Code::kOk) return false;
    if (request.prev_kv) {
      const KeyValueView previous = view_of(record, version);
      code = charge(encoded_size(previous));
      if (code != Code::kOk) return false;
      result.prev.push_back(to_key_value(previous));
    }
    changed_->append(record, next_version(Version::make()));
    ++result.deleted;
    return true;
  };
  // Tombstones add no keys, so the walk stays valid; their revision is the newest, so it visits each key once.
  if (!walk.go_on(history_, base_ + 1, steps, remove_one)) return std::nullopt;
  result.revision = revision();
  return code;
}

Code Writer::charge(std::size_t bytes) {
  result_bytes_ += bytes;
  return result_bytes_ > kResultBytesMax ? Code::kResultTooLarge : Code::kOk;
}

bool Writer::undo(StepBudget& steps) {
  for (; changes_ > 0 && !steps.spent(); --changes_) {
    changed_->undo();
    steps.take();
  }
  return changes_ == 0;
}

}  // namespace ingot::kv
