// Every version of every key that compaction has not removed, for reads at the newest and at old revisions.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/wire.h"
#include "replication/store/attachments.h"
#include "replication/store/api.h"
#include "replication/store/change_log.h"
#include "replication/store/codec.h"
#include "replication/store/key_index.h"
#include "replication/store/state_machine.h"

namespace ingot::kv {

// One value of a key, or the tombstone of a deletion. Never changes once written. The value's bytes follow the fields
// in the same memory: there is one version for each put.
class Version {
 public:
  struct Free {
    void operator()(Version* version) const;
  };
  using Owner = std::unique_ptr<Version, Free>;

  // All fields are zero: that of a tombstone.
  static Owner make(std::string_view value = {});
  Version(const Version&) = delete;
  Version& operator=(const Version&) = delete;

  Revision mod_revision = 0;     // of the transaction that wrote it
  Revision create_revision = 0;  // 0: tombstone
  std::int64_t version = 0;      // 1 for the first since creation; 0: tombstone
  std::int64_t lease = 0;
  std::uint32_t sub = 0;  // its place among the changes of that transaction

  std::string_view value() const { return {reinterpret_cast<const char*>(this + 1), value_bytes_}; }
  bool tombstone() const { return version == 0; }

 private:
  explicit Version(std::uint32_t value_bytes) : value_bytes_(value_bytes) {}

  const std::uint32_t value_bytes_;
};
static_assert(sizeof(Version) == 40);

// A key and its versions, oldest first. Invariant: never empty, (mod_revision, sub) ascends.
class KeyRecord {
 public:
  explicit KeyRecord(std::string_view key) : key_(key) {}

  const std::string& key() const { return key_; }
  std::size_t size() const { return versions_.size() - first_; }
  const Version& operator[](std::size_t i) const { return *versions_[first_ + i]; }
  const Version& newest() const { return *versions_.back(); }

  // How many of the versions are not above a revision: they are the first.
  std::size_t count_to(Revision revision) const;
  // The version in force at a revision; null if the key did not exist then.
  const Version* at(Revision revision) const;
  // The newest version up to a revision, a tombstone, too; null if there is none.
  const Version* newest_to(Revision revision) const;
  // The version that this change has made; null if it was freed.
  const Version* made_by(EventPosition change) const;

  void append(Version::Owner version) { versions_.push_back(std::move(version)); }
  void drop_newest() { versions_.pop_back(); }
  void drop_oldest();  // amortized constant time

  // A tombstone is freed before its turn if its own transaction puts the key again. What is left of it is its turn.
  void note_turn_taken() { ++turns_taken_; }
  // Whether the next turn of this key's tombstones is such a one; it is then over.
  bool pass_turn() { return turns_taken_ > 0 && turns_taken_-- > 0; }

 private:
  std::string key_;
  std::uint32_t first_ = 0;  // versions below it are gone
  std::uint32_t turns_taken_ = 0;
  absl::InlinedVector<Version::Owner, 2> versions_;
};

// The keys that a request selects, in etcd's notation. The views must outlive it.
class KeyRange {
 public:
  // An empty `range_end` means the key alone, "\0" everything from `key` on; otherwise [key, range_end).
  KeyRange(std::string_view key, std::string_view range_end) : key_(key), end_(range_end) {}

  bool contains(std::string_view key) const {
    return one_key() ? key == key_ : key >= key_ && (open_ended() || key < end_);
  }
  bool one_key() const { return end_.empty(); }
  bool open_ended() const { return end_.size() == 1 && end_[0] == '\0'; }
  bool empty() const { return !one_key() && !open_ended() && end_ <= key_; }
  std::string_view begin() const { return key_; }
  std::string_view end() const { return end_; }

 private:
  std::string_view key_, end_;
};

inline KeyValueView view_of(const KeyRecord& record, const Version& version) {
  return {record.key(), version.value(), version.create_revision, version.mod_revision, version.version, version.lease};
}

// What the quota (replication/store/quota.h) counts of a store, in bytes.
struct CountedBytes {
  std::int64_t live = 0;     // of keys that exist, with their newest versions; of leases
  std::int64_t history = 0;  // of versions that are superseded and not compacted, tombstones with their keys

  std::int64_t sum() const { return live + history; }
  bool operator==(const CountedBytes&) const = default;
};

// All versions of all keys. A superseded version (one with a newer version of its key, or a tombstone) is kept until
// compaction reaches the revision that superseded it. Queues in the order of that revision make the cost of compaction
// proportional to what it removes.
//
// What is freed, and in which order, follows from the versions that are held and from the calls alone: a history that
// was loaded goes on as the one that was saved.
//
// The log of changes leads from a revision to what it has changed: watches read history by it.
//
// Not thread-safe. Movable; records stay where they are in memory.
class History {
 public:
  const KeyRecord* find(std::string_view key) const { return index_.find(key); }

  // The key will soon be found. In a large store each step to its newest version waits for memory. The steps of several
  // keys in a row do not depend on each other, so the processor waits for them at the same time.
  void expect(std::string_view key) const {
    const KeyRecord* record = key.empty() ? nullptr : find(key);
    if (record != nullptr) __builtin_prefetch(&record->newest());
  }

  // Calls visit(record, version) for the keys of the range that exist at the revision, in key order, and ends after the
  // one for which it returns false, or when the steps are spent: one for each key, those that do not exist at the
  // revision included. Returns the first key that it has not come to; empty: it came to the range's end. A range of one
  // key is visited in any case.
  template <typename Visit>
  std::string_view visit(const KeyRange& range, Revision revision, Visit&& visit,
                         StepBudget&& steps = StepBudget()) const {
    return visit_some(range, revision, steps, visit);
  }
  template <typename Visit>
  std::string_view visit_some(const KeyRange& range, Revision revision, StepBudget& steps, Visit&& visit) const {
    if (range.one_key()) {
      steps.take();
      const KeyRecord* record = find(range.begin());
      const Version* version = record ? record->at(revision) : nullptr;
      if (version) visit(*record, *version);
      return {};
    }
    if (range.empty()) return {};
    const auto end = range.open_ended() ? records_.end() : records_.lower_bound(range.end());
    bool on = true;
    for (auto it = records_.lower_bound(range.begin()); it != end; ++it) {
      if (!on || steps.spent()) return it->first;
      steps.take();
      const Version* version = it->second->at(revision);
      if (version) on = visit(*it->second, *version);
    }
    return {};
  }

  // Appends a version to a key.
  // REQUIRES: (mod_revision, sub) is above all earlier ones; a tombstone only where the key exists.
  void append(std::string_view key, Version::Owner version);
  // The same to a key whose record is known, which saves a search. REQUIRES: the record is this history's.
  void append(const KeyRecord& record, Version::Owner version);

  // Takes back the newest change. REQUIRES: there is one; no release or compact_some since it was made.
  void undo();

  // Versions that were superseded at or below `compacted` count no more (counted()), though compact_some has yet to
  // free them, and they are held (held()). Takes time in proportion to the logarithm of their number. REQUIRES: calls
  // come with ascending revisions.
  void release(Revision compacted);

  // What becomes of tombstones of the compacted revision itself: kept until the next compaction, they are that
  // revision's deletes for those who still read its changes.
  enum class LastTombstones : std::uint8_t { kFree, kKeep };

  // How much compact_some frees, if so much waits: as many versions, and on until it is as many bytes, too.
  struct Freeing {
    std::int64_t versions = 0;
    std::int64_t bytes = 0;  // as the quota counts them
  };

  // Frees some of the versions that were superseded at or below `compacted`, the oldest first. Returns true if such
  // versions are left.
  bool compact_some(Revision compacted, Freeing freeing, LastTombstones last = LastTombstones::kFree);
  // The same in steps: takes off `freeing` what it frees. Returns false if the steps are spent before all is done.
  bool compact_some(Revision compacted, Freeing& freeing, StepBudget& steps, LastTombstones last);

  // The changes from about the compacted revision on. An entry at or above that revision has a record.
  const ChangeLog& changes() const { return changes_; }
  // Drops at most `limit` changes below a compacted revision.
  void drop_changes(Revision compacted, std::size_t limit) { changes_.drop_some(compacted, limit); }

  // Hashes of the versions up to a revision that a compaction at `compacted` keeps: of about `versions_max` of them,
  // from a position on, which is a key, and a revision that its versions are below.
  struct HashPart {
    std::uint64_t sum = 0;
    std::string_view next_from;  // the next part's position; empty: there is none
    Revision next_below = 0;
  };
  HashPart hash_part(const HashRequest& request, Revision revision, Revision compacted) const;

  // Sum of the hashes of all versions held, including those that wait for compact_some. Each change updates it.
  std::uint64_t digest() const { return digest_; }
  // The same, computed from all versions: for tests and for loading.
  std::uint64_t compute_digest() const;

  std::int64_t live_keys() const { return live_keys_; }
  std::int64_t bytes() const { return bytes_; }  // of keys and values of all versions held
  std::int64_t versions() const { return versions_; }
  CountedBytes counted() const {
    return {live_counted_ + attachments_.counted(),
            replaced_.counted - replaced_.released + tombstones_.counted - tombstones_.released};
  }
  // The same sum of all versions held: what counts, and what was released and is not freed yet. In bytes.
  std::int64_t held() const {
    return live_counted_ + attachments_.counted() + replaced_.counted + tombstones_.counted - freed_counted_;
  }

  // The keys that exist, by the leases that their newest versions name.
  const Attachments& attachments() const { return attachments_; }

  // Writes every record, for snapshots.
  void save(StateMachine::Sink sink) const;
  // Refuses bytes that save cannot have written. `revision` is the store's: no version is above it. The log of changes
  // begins at `compacted`.
  static absl::StatusOr<History> load(WireReader& in, Revision revision, Revision compacted);

 private:
  struct Superseded {
    Revision at = 0;
    KeyRecord* record = nullptr;  // its oldest version is the superseded one when this entry reaches the front
    std::int64_t counted_to = 0;  // bytes counted of all in its queue that were superseded before, and of this one
  };

  // Versions in the order of the changes that superseded them. A record's tombstone comes to the front after the
  // versions that were replaced at or below its revision.
  struct SupersededQueue {
    std::deque<Superseded> waiting;   // ascending by `at`
    std::int64_t counted = 0;   // of all that ever entered, since this object began, less those that were undone
    std::int64_t released = 0;  // of those among them that were released

    void push(Revision at, KeyRecord& record, std::int64_t bytes);
    void undo(std::int64_t bytes);
    KeyRecord& pop();
    void expect() const;
    void release(Revision compacted);
    bool due(Revision at) const { return !waiting.empty() && waiting.front().at <= at; }
  };

  KeyRecord& add_record(std::string_view key);  // without a version; REQUIRES: the key has none
  void erase_record(KeyRecord* record);
  void append_to(KeyRecord& record, Version::Owner version);
  void count(const KeyRecord& record, const Version& version, int sign);
  static std::optional<std::int64_t> replaced_bytes(const Version* before, const Version& after);
  void free_oldest(KeyRecord& record);
  bool free_next(Revision compacted, Revision tombstones_to);
  bool rebuild_queues(Revision compacted);  // false if two changes claim the same place

  // The key views point into the records.
  absl::btree_map<std::string_view, std::unique_ptr<KeyRecord>> records_;
  KeyIndex<KeyRecord> index_;  // of the same records
  SupersededQueue replaced_;  // by a successor, or deleted; of tombstones those that their own revision replaced
  SupersededQueue tombstones_;  // all of them: those that are gone already are passed over (KeyRecord::pass_turn)
  ChangeLog changes_;
  Attachments attachments_;
  std::uint64_t digest_ = 0;
  std::int64_t live_keys_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t versions_ = 0;
  std::int64_t live_counted_ = 0;
  std::int64_t freed_counted_ = 0;  // of all that this object has freed
};

}  // namespace ingot::kv
