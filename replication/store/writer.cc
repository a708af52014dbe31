#include "replication/store/writer.h"

#include <utility>

#include "core/check.h"
#include "replication/store/limits.h"

namespace ingot::kv {

const KeyRecord* Writer::live(std::string_view key) const {
  const KeyRecord* record = history_.find(key);
  return record && !record->newest().tombstone() ? record : nullptr;
}

void Writer::append(std::string_view key, std::unique_ptr<Version> version) {
  version->mod_revision = base_ + 1;
  version->sub = static_cast<std::uint32_t>(changes_.size());
  INGOT_CHECK(changed_ != nullptr, "a transaction that only reads wrote");
  changes_.push_back(changed_->append(key, std::move(version)));
}

Code Writer::put(PutRequest& request, PutResult& result) {
  if (request.lease != 0) return Code::kLeaseNotFound;  // no lease has ever been granted
  const KeyRecord* record = live(request.key);
  const Version* previous = record ? &record->newest() : nullptr;
  if (!previous && (request.ignore_value || request.ignore_lease)) return Code::kKeyNotFound;
  if (previous && request.prev_kv) {
    result.has_prev = true;
    result.prev = to_key_value(view_of(*record, *previous));
    if (charge(encoded_size(view_of(*record, *previous))) != Code::kOk) return Code::kResultTooLarge;
  }
  auto version = std::make_unique<Version>();
  version->create_revision = previous ? previous->create_revision : base_ + 1;
  version->version = previous ? previous->version + 1 : 1;
  version->lease = request.ignore_lease ? previous->lease : request.lease;
  version->value = request.ignore_value ? previous->value : std::move(request.value);
  const std::int64_t counted =
      counted_version(version->value.size()) + (previous ? 0 : counted_key(request.key.size()));
  if (history_.counted().sum() > quota_.puts_max() - counted) return Code::kNoSpace;
  append(request.key, std::move(version));
  result.revision = revision();
  return Code::kOk;
}

Code Writer::remove(const DeleteRangeRequest& request, DeleteRangeResult& result) {
  Code code = Code::kOk;
  // Tombstones add no keys, so the iteration stays valid; their revision is the newest, so it visits each key once.
  history_.visit(KeyRange(request.key, request.range_end), base_ + 1,
                 [&](const KeyRecord& record, const Version& version) {
                   if (history_.counted().sum() > quota_.deletes_max() - counted_version(0)) code = Code::kNoSpace;
                   if (code != Code::kOk) return false;
                   if (request.prev_kv) {
                     const KeyValueView previous = view_of(record, version);
                     code = charge(encoded_size(previous));
                     if (code != Code::kOk) return false;
                     result.prev.push_back(to_key_value(previous));
                   }
                   append(record.key(), std::make_unique<Version>());
                   ++result.deleted;
                   return true;
                 });
  result.revision = revision();
  return code;
}

Code Writer::charge(std::size_t bytes) {
  result_bytes_ += bytes;
  return result_bytes_ > kResultBytesMax ? Code::kResultTooLarge : Code::kOk;
}

void Writer::undo() {
  for (; !changes_.empty(); changes_.pop_back()) changed_->undo(changes_.back());
}

}  // namespace ingot::kv
