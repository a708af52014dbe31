#include "replication/store/history.h"

#include <algorithm>

#include "core/check.h"
#include "core/stable_hash.h"
#include "replication/store/quota.h"

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

KeyRecord& History::add_record(std::string_view key) {
  auto record = std::make_unique<KeyRecord>(key);
  KeyRecord& added = *record;
  index_.insert(&added);
  records_.emplace(added.key(), std::move(record));
  return added;
}

void History::erase_record(KeyRecord* record) {
  index_.erase(record);
  records_.erase(record->key());
}

void History::count(const KeyRecord& record, const Version& version, int sign) {
  const std::uint64_t hash = hash_of(record.key(), version);
  digest_ += sign > 0 ? hash : -hash;
  bytes_ += sign * static_cast<std::int64_t>(record.key().size() + version.value.size());
  versions_ += sign;
}

History::Change History::append(std::string_view key, std::unique_ptr<Version> version) {
  KeyRecord* const known = index_.find(key);
  INGOT_CHECK(known != nullptr || !version->tombstone(), "only what exists is deleted");
  KeyRecord& record = known != nullptr ? *known : add_record(key);
  const bool existed = record.size() > 0 && !record.newest().tombstone();
  INGOT_CHECK(existed || !version->tombstone(), "only what exists is deleted");
  if (existed) {
    const std::int64_t counted = counted_version(record.newest().value.size());
    live_counted_ -= counted;
    supersede(version->mod_revision, record, counted);
  }
  if (version->tombstone()) {
    live_counted_ -= counted_key(key.size());
    supersede(version->mod_revision, record, counted_tombstone(key.size()));
  } else {
    live_counted_ += counted_version(version->value.size()) + (existed ? 0 : counted_key(key.size()));
  }
  live_keys_ += (version->tombstone() ? 0 : 1) - (existed ? 1 : 0);
  count(record, *version, 1);
  record.append(std::move(version));
  return &record;
}

void History::undo(Change record) {
  const Version& newest = record->newest();
  const std::int64_t key = counted_key(record->key().size());
  const bool tombstone = newest.tombstone();
  if (!tombstone) live_counted_ -= counted_version(newest.value.size());
  count(*record, newest, -1);
  record->drop_newest();
  const bool existed = record->size() > 0 && !record->newest().tombstone();
  if (tombstone) {
    undo_supersede(counted_tombstone(record->key().size()));
    live_counted_ += key;
  } else if (!existed) {
    live_counted_ -= key;
  }
  if (existed) {
    const std::int64_t counted = counted_version(record->newest().value.size());
    undo_supersede(counted);
    live_counted_ += counted;
  }
  live_keys_ -= (tombstone ? 0 : 1) - (existed ? 1 : 0);
  if (record->size() == 0) erase_record(record);
}

void History::supersede(Revision at, KeyRecord& record, std::int64_t counted) {
  superseded_counted_ += counted;
  superseded_.push_back({at, &record, superseded_counted_});
}

void History::undo_supersede(std::int64_t counted) {
  superseded_counted_ -= counted;
  superseded_.pop_back();
}

void History::release(Revision compacted) {
  const auto later = [](Revision revision, const Superseded& each) { return revision < each.at; };
  const auto first_kept = std::upper_bound(superseded_.begin(), superseded_.end(), compacted, later);
  if (first_kept != superseded_.begin()) released_counted_ = std::prev(first_kept)->counted_to;
}

bool History::compact_some(Revision compacted, int limit) {
  for (; limit > 0 && !superseded_.empty() && superseded_.front().at <= compacted; --limit) {
    KeyRecord* record = superseded_.front().record;
    superseded_.pop_front();
    count(*record, (*record)[0], -1);
    record->drop_oldest();
    if (record->size() == 0) erase_record(record);
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
