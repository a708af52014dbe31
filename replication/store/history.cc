#include "replication/store/history.h"

#include <algorithm>
#include <limits>
#include <new>

#include "core/check.h"
#include "core/stable_hash.h"
#include "replication/store/limits.h"
#include "replication/store/quota.h"

namespace ingot::kv {
namespace {

std::uint64_t hash_of(std::string_view key, const Version& v) {
  std::uint64_t hash = hash_bytes(v.value(), hash_bytes(key));
  hash = mix(hash, static_cast<std::uint64_t>(v.mod_revision));
  hash = mix(hash, static_cast<std::uint64_t>(v.create_revision));
  hash = mix(hash, static_cast<std::uint64_t>(v.version));
  hash = mix(hash, static_cast<std::uint64_t>(v.lease));
  return mix(hash, v.sub);
}

// What a version counts, once it is superseded.
std::int64_t counted_superseded(const KeyRecord& record, const Version& version) {
  return version.tombstone() ? counted_tombstone(record.key().size()) : counted_version(version.value().size());
}

constexpr std::size_t kExpectedTurns = 8;  // what is loaded for so many fits into the nearest cache

// Tombstones up to it are freed.
Revision tombstones_to(Revision compacted, History::LastTombstones last) {
  return last == History::LastTombstones::kKeep ? compacted - 1 : compacted;
}

}  // namespace

Version::Owner Version::make(std::string_view value) {
  INGOT_CHECK(value.size() <= std::numeric_limits<std::uint32_t>::max(), "a request is shorter");
  void* const memory = ::operator new(sizeof(Version) + value.size());
  Owner version(new (memory) Version(static_cast<std::uint32_t>(value.size())));
  value.copy(static_cast<char*>(memory) + sizeof(Version), value.size());
  return version;
}

void Version::Free::operator()(Version* version) const {
  version->~Version();
  ::operator delete(version);
}

std::size_t KeyRecord::count_to(Revision revision) const {
  if (newest().mod_revision <= revision) return size();
  const auto begin = versions_.begin() + first_;
  const auto above = std::upper_bound(begin, versions_.end(), revision, [](Revision r, const auto& version) {
    return r < version->mod_revision;
  });
  return static_cast<std::size_t>(above - begin);
}

const Version* KeyRecord::newest_to(Revision revision) const {
  const std::size_t count = count_to(revision);
  return count > 0 ? &(*this)[count - 1] : nullptr;
}

const Version* KeyRecord::at(Revision revision) const {
  const Version* found = newest_to(revision);
  return found && !found->tombstone() ? found : nullptr;
}

const Version* KeyRecord::made_by(EventPosition change) const {
  const auto begin = versions_.begin() + first_;
  const auto found = std::lower_bound(begin, versions_.end(), change, [](const auto& version, EventPosition at) {
    return EventPosition{version->mod_revision, version->sub} < at;
  });
  if (found == versions_.end()) return nullptr;
  const bool same = EventPosition{(*found)->mod_revision, (*found)->sub} == change;
  return same ? found->get() : nullptr;
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
  bytes_ += sign * static_cast<std::int64_t>(record.key().size() + version.value().size());
  versions_ += sign;
}

// Whether `after` gives its key's version before it a place in the queue of replaced versions, and the bytes that count
// from then on. A tombstone has counted since it was made, and has a turn of its own, after its revision. One that its
// own revision replaces must go before that revision's later versions of the key, and so has a place here, too.
std::optional<std::int64_t> History::replaced_bytes(const Version* before, const Version& after) {
  if (before == nullptr) return std::nullopt;
  if (!before->tombstone()) return counted_version(before->value().size());
  return before->mod_revision == after.mod_revision ? std::optional<std::int64_t>(0) : std::nullopt;
}

void History::append(std::string_view key, Version::Owner version) {
  KeyRecord* const known = index_.find(key);
  INGOT_CHECK(known != nullptr || !version->tombstone(), "only what exists is deleted");
  append_to(known != nullptr ? *known : add_record(key), std::move(version));
}

void History::append(const KeyRecord& record, Version::Owner version) {
  append_to(const_cast<KeyRecord&>(record), std::move(version));
}

void History::append_to(KeyRecord& record, Version::Owner version) {
  const std::string& key = record.key();
  const Version* before = record.size() > 0 ? &record.newest() : nullptr;
  const bool existed = before != nullptr && !before->tombstone();
  INGOT_CHECK(existed || !version->tombstone(), "only what exists is deleted");
  if (const auto counted = replaced_bytes(before, *version)) {
    live_counted_ -= *counted;
    replaced_.push(version->mod_revision, record, *counted);
  }
  if (version->tombstone()) {
    live_counted_ -= counted_key(key.size());
    tombstones_.push(version->mod_revision, record, counted_tombstone(key.size()));
  } else {
    live_counted_ += counted_version(version->value().size()) + (existed ? 0 : counted_key(key.size()));
  }
  live_keys_ += (version->tombstone() ? 0 : 1) - (existed ? 1 : 0);
  count(record, *version, 1);
  attachments_.move(record.key(), existed ? before->lease : 0, version->lease);
  changes_.append({version->mod_revision, version->sub}, &record);
  record.append(std::move(version));
}

void History::undo() {
  KeyRecord* const record = changes_[changes_.size() - 1].record;
  const Version& newest = record->newest();
  const Version* before = record->size() > 1 ? &(*record)[record->size() - 2] : nullptr;
  const bool existed = before != nullptr && !before->tombstone();
  const std::int64_t key = counted_key(record->key().size());
  const bool tombstone = newest.tombstone();
  if (!tombstone) live_counted_ -= counted_version(newest.value().size());
  if (const auto counted = replaced_bytes(before, newest)) {
    replaced_.undo(*counted);
    live_counted_ += *counted;
  }
  count(*record, newest, -1);
  attachments_.move(record->key(), newest.lease, existed ? before->lease : 0);
  changes_.undo();
  record->drop_newest();
  if (tombstone) {
    tombstones_.undo(counted_tombstone(record->key().size()));
    live_counted_ += key;
  } else if (!existed) {
    live_counted_ -= key;
  }
  live_keys_ -= (tombstone ? 0 : 1) - (existed ? 1 : 0);
  if (record->size() == 0) erase_record(record);
}

void History::SupersededQueue::push(Revision at, KeyRecord& record, std::int64_t bytes) {
  counted += bytes;
  waiting.push_back({at, &record, counted});
}

void History::SupersededQueue::undo(std::int64_t bytes) {
  counted -= bytes;
  waiting.pop_back();
}

KeyRecord& History::SupersededQueue::pop() {
  KeyRecord* const record = waiting.front().record;
  waiting.pop_front();
  return *record;
}

// Versions are freed long after they were used, so each step to one waits for memory. As for keys (History::expect) the
// processor begins to load what later turns need. REQUIRES: the versions of these turns are there.
void History::SupersededQueue::expect() const {
  if (waiting.size() <= kExpectedTurns) return;
  __builtin_prefetch(waiting[kExpectedTurns].record);
  __builtin_prefetch(&(*waiting[kExpectedTurns / 2].record)[0]);
}

void History::SupersededQueue::release(Revision compacted) {
  const auto later = [](Revision revision, const Superseded& each) { return revision < each.at; };
  const auto first_kept = std::upper_bound(waiting.begin(), waiting.end(), compacted, later);
  if (first_kept != waiting.begin()) released = std::prev(first_kept)->counted_to;
}

void History::release(Revision compacted) {
  replaced_.release(compacted);
  tombstones_.release(compacted);
}

void History::free_oldest(KeyRecord& record) {
  const Version& oldest = record[0];
  freed_counted_ += counted_superseded(record, oldest);
  count(record, oldest, -1);
  record.drop_oldest();
  if (record.size() == 0) erase_record(&record);
}

// Frees the next version in the order of the queues; false: none is due. A tombstone comes after the versions that were
// replaced up to its revision: its record's are among them. A turn that is passed over has had its place among those.
bool History::free_next(Revision compacted, Revision tombstones_to) {
  while (tombstones_.due(tombstones_to) && !replaced_.due(tombstones_.waiting.front().at)) {
    KeyRecord& record = tombstones_.pop();
    if (record.pass_turn()) continue;
    free_oldest(record);
    return true;
  }
  if (!replaced_.due(compacted)) return false;
  KeyRecord& record = replaced_.pop();
  replaced_.expect();
  if (record[0].tombstone()) record.note_turn_taken();
  free_oldest(record);
  return true;
}

bool History::compact_some(Revision compacted, Freeing freeing, LastTombstones last) {
  StepBudget steps;
  compact_some(compacted, freeing, steps, last);
  return replaced_.due(compacted) || tombstones_.due(tombstones_to(compacted, last));
}

bool History::compact_some(Revision compacted, Freeing& freeing, StepBudget& steps, LastTombstones last) {
  while (freeing.versions > 0 || freeing.bytes > 0) {
    if (steps.spent()) return false;
    const std::int64_t before = freed_counted_;
    if (!free_next(compacted, tombstones_to(compacted, last))) break;
    const std::int64_t freed = freed_counted_ - before;
    steps.take(1 + freed / kStepBytes);
    freeing.versions -= 1;
    freeing.bytes -= freed;
  }
  return true;
}

// A part ends between two revisions of a key, which may have more versions than one part is about.
History::HashPart History::hash_part(const HashRequest& request, Revision revision, Revision compacted) const {
  constexpr auto kAll = std::numeric_limits<std::size_t>::max();
  const std::size_t budget = request.step_entries != 0 ? request.step_entries : kAll;
  std::size_t looked = 0;
  HashPart part;
  for (auto it = records_.lower_bound(request.from); it != records_.end(); ++it) {
    const auto& [key, record] = *it;
    const bool goes_on = request.below != 0 && key == request.from;
    Revision last = goes_on ? request.below : revision + 1;
    if (looked >= budget) return {part.sum, key, 0};
    for (std::size_t i = record->count_to(std::min(revision, last - 1)); i-- > 0;) {
      const Version& version = (*record)[i];
      if (looked >= budget && version.mod_revision < last) return {part.sum, key, last};
      last = version.mod_revision;
      looked += 1 + version.value().size() / kPartBytesPerVersion;
      const bool last_kept = version.mod_revision <= compacted;
      if (!(last_kept && version.tombstone())) part.sum += hash_of(key, version);
      if (last_kept) break;
    }
    ++looked;  // a key of which no version counts, too
  }
  return part;
}

std::uint64_t History::compute_digest() const {
  std::uint64_t digest = 0;
  for (const auto& [key, record] : records_) {
    for (std::size_t i = 0; i < record->size(); ++i) digest += hash_of(key, (*record)[i]);
  }
  return digest;
}

}  // namespace ingot::kv
