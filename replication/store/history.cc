#include "replication/store/history.h"

#include <algorithm>

#include "core/check.h"
#include "core/stable_hash.h"

namespace ingot::kv {
namespace {

std::uint64_t hash_of(std::string_view key, const Version& v) {
  std::uint64_t hash = hash_bytes(v.value, hash_bytes(key));
  hash = mix(hash, static_cast<std::uint64_t>(v.mod_revision));
  hash = mix(hash, static_cast<std::uint64_t>(v.create_revision));
  hash = mix(hash, static_cast<std::uint64_t>(v.version));
  hash = mix(hash, static_cast<std::uint64_t>(v.lease));
  return mix(hash, v.sub);
}

}  // namespace

const Version* KeyRecord::at(Revision revision) const {
  const Version* found = nullptr;
  if (newest().mod_revision <= revision) {
    found = &newest();
  } else {
    const auto begin = versions_.begin() + first_;
    const auto above = std::upper_bound(begin, versions_.end(), revision, [](Revision r, const auto& version) {
      return r < version->mod_revision;
    });
    if (above != begin) found = std::prev(above)->get();
  }
  return found && !found->tombstone() ? found : nullptr;
}

void KeyRecord::drop_oldest() {
  versions_[first_++].reset();
  if (first_ * 2 < versions_.size()) return;
  versions_.erase(versions_.begin(), versions_.begin() + first_);
  first_ = 0;
  if (versions_.capacity() > 4 * versions_.size()) versions_.shrink_to_fit();
}

const KeyRecord* History::find(std::string_view key) const {
  const auto it = records_.find(key);
  return it == records_.end() ? nullptr : it->second.get();
}

void History::count(const KeyRecord& record, const Version& version, int sign) {
  const std::uint64_t hash = hash_of(record.key(), version);
  digest_ += sign > 0 ? hash : -hash;
  bytes_ += sign * static_cast<std::int64_t>(record.key().size() + version.value.size());
  versions_ += sign;
}

History::Change History::append(std::string_view key, std::unique_ptr<Version> version) {
  auto it = records_.lower_bound(key);
  if (it == records_.end() || it->first != key) {
    INGOT_CHECK(!version->tombstone(), "only what exists is deleted");
    auto record = std::make_unique<KeyRecord>(key);
    const std::string_view own_key = record->key();
    it = records_.emplace_hint(it, own_key, std::move(record));
  }
  KeyRecord& record = *it->second;
  const bool existed = record.size() > 0 && !record.newest().tombstone();
  INGOT_CHECK(existed || !version->tombstone(), "only what exists is deleted");
  if (existed) superseded_.push_back({version->mod_revision, &record});
  if (version->tombstone()) superseded_.push_back({version->mod_revision, &record});
  live_keys_ += (version->tombstone() ? 0 : 1) - (existed ? 1 : 0);
  count(record, *version, 1);
  record.append(std::move(version));
  return &record;
}

void History::undo(Change record) {
  const bool tombstone = record->newest().tombstone();
  count(*record, record->newest(), -1);
  record->drop_newest();
  const bool existed = record->size() > 0 && !record->newest().tombstone();
  if (tombstone) superseded_.pop_back();
  if (existed) superseded_.pop_back();
  live_keys_ -= (tombstone ? 0 : 1) - (existed ? 1 : 0);
  if (record->size() == 0) records_.erase(records_.find(record->key()));
}

bool History::compact_some(Revision compacted, int limit) {
  for (; limit > 0 && !superseded_.empty() && superseded_.front().at <= compacted; --limit) {
    KeyRecord* record = superseded_.front().record;
    superseded_.pop_front();
    count(*record, (*record)[0], -1);
    record->drop_oldest();
    if (record->size() == 0) records_.erase(records_.find(record->key()));
  }
  return !superseded_.empty() && superseded_.front().at <= compacted;
}

std::uint64_t History::hash_at(Revision revision, Revision compacted) const {
  std::uint64_t hash = 0;
  for (const auto& [key, record] : records_) {
    for (std::size_t i = record->size(); i-- > 0;) {
      const Version& version = (*record)[i];
      if (version.mod_revision > revision) continue;
      const bool last_kept = version.mod_revision <= compacted;
      if (!(last_kept && version.tombstone())) hash += hash_of(key, version);
      if (last_kept) break;
    }
  }
  return hash;
}

std::uint64_t History::compute_digest() const {
  std::uint64_t digest = 0;
  for (const auto& [key, record] : records_) {
    for (std::size_t i = 0; i < record->size(); ++i) digest += hash_of(key, (*record)[i]);
  }
  return digest;
}

}  // namespace ingot::kv
