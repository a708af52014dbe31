// The store as bytes:
//
//   snapshot  u64 magic  i64 revision  i64 compacted  u8 no_space  u64 digest  u64 keys  keys x record  leases
//   record    bytes key  u32 versions  versions x version      (keys ascend)
//   version   i64 mod_revision  u32 sub  i64 create_revision  i64 version  i64 lease  bytes value   (oldest first)
//   leases    i64 clock_ms  i64 restored_ms  u64 leadership  u64 tick
//             u64 leases  leases x (i64 end_ms  i64 id  i64 ttl_s)   (end_ms and id ascend)
//
// A change of any bit makes the digest or the format wrong. The last character of the magic is the format's version.

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "core/wire.h"
#include "replication/store/history.h"
#include "replication/store/kv_store.h"
#include "replication/store/quota.h"
#include "replication/store/snapshot_head.h"

namespace ingot::kv {
namespace {

constexpr std::uint64_t kMagic = 0x34'56'4b'54'4f'47'4e'49;  // "INGOTKV4"
constexpr std::size_t kPartBytes = 64 * 1024;  // given to the sink at a time, approximately

constexpr std::int64_t kVersionMax = std::int64_t{1} << 62;  // of a key; no key changes as often, and 1 can be added

constexpr std::int64_t kVersionBytesMax = 48;  // of a version and its share of a record, without key and value

absl::Status refused(const char* why) {
  return absl::InvalidArgumentError(std::string("the bytes are not a snapshot of the store: ") + why);
}

constexpr std::size_t kAhead = 8;  // records or versions; what is loaded for them fits into the nearest cache

// The processor begins to load a version's fields, and the beginning of its value: two lines of the cache.
void load_ahead(const Version& v) {
  __builtin_prefetch(&v);
  __builtin_prefetch(reinterpret_cast<const char*>(&v) + 64);
}

// Where a walk from the first record on is after so many steps.
template <typename Map>
auto later(const Map& map, std::size_t steps) {
  auto it = map.begin();
  while (steps-- > 0 && it != map.end()) ++it;
  return it;
}

void write_version(WireWriter& out, const Version& v) {
  out.i64(v.mod_revision).u32(v.sub).i64(v.create_revision).i64(v.version).i64(v.lease).bytes(v.value());
}

Version::Owner read_version(WireReader& in) {
  const Revision mod_revision = in.i64();
  const std::uint32_t sub = in.u32();
  const Revision create_revision = in.i64();
  const std::int64_t version = in.i64();
  const std::int64_t lease = in.i64();
  Version::Owner v = Version::make(in.bytes());
  v->mod_revision = mod_revision;
  v->sub = sub;
  v->create_revision = create_revision;
  v->version = version;
  v->lease = lease;
  return v;
}

// A version by itself: a tombstone has a revision only; any other version was created at or before its revision.
bool plausible(const Version& v, Revision newest) {
  if (v.mod_revision < 2 || v.mod_revision > newest) return false;
  if (v.version == 0) return v.create_revision == 0 && v.lease == 0 && v.value().empty();
  return v.version > 0 && v.version <= kVersionMax && v.create_revision >= 2 && v.create_revision <= v.mod_revision;
}

// Whether a version can come after its predecessor, which compaction may have removed.
bool follows(const Version& v, const Version* before) {
  if (!before) return true;
  if (std::tie(v.mod_revision, v.sub) <= std::tie(before->mod_revision, before->sub)) return false;
  if (before->tombstone()) return v.version == 1 && v.create_revision == v.mod_revision;
  if (v.tombstone()) return true;
  return v.version == before->version + 1 && v.create_revision == before->create_revision;
}

// Null if the record is not one that save wrote.
std::unique_ptr<KeyRecord> read_record(WireReader& in, Revision newest) {
  auto record = std::make_unique<KeyRecord>(in.bytes());
  std::uint32_t left = in.u32();
  if (in.failed() || left == 0) return nullptr;
  for (; left > 0; --left) {
    Version::Owner version = read_version(in);
    const Version* before = record->size() > 0 ? &record->newest() : nullptr;
    if (in.failed() || !plausible(*version, newest) || !follows(*version, before)) return nullptr;
    record->append(std::move(version));
  }
  return record;
}

bool possible(Revision revision, Revision compacted) {
  return revision >= 1 && compacted >= -1 && compacted <= revision;
}

}  // namespace

std::optional<SnapshotHead> read_snapshot_head(std::string_view snapshot) {
  WireReader in(snapshot);
  const bool known = in.u64() == kMagic;
  SnapshotHead head;
  head.revision = in.i64();
  head.compacted = in.i64();
  in.u8();
  in.u64();
  head.records = in.u64();
  if (in.failed() || !known || !possible(head.revision, head.compacted)) return std::nullopt;
  return head;
}

// Most versions are in no cache any more, so each step to one waits for memory. As for keys (History::expect) the
// processor begins to load those that come later.
void History::save(StateMachine::Sink sink) const {
  WireWriter part(2 * kPartBytes);
  part.u64(records_.size());
  auto far = later(records_, kAhead), near = later(records_, kAhead / 2);
  for (const auto& [key, record] : records_) {
    if (far != records_.end()) __builtin_prefetch((far++)->second.get());
    if (near != records_.end()) load_ahead((*(near++)->second)[0]);
    part.bytes(key).u32(static_cast<std::uint32_t>(record->size()));
    for (std::size_t i = 0; i < record->size(); ++i) {
      if (i + kAhead < record->size()) load_ahead((*record)[i + kAhead]);
      write_version(part, (*record)[i]);
      if (part.size() < kPartBytes) continue;
      sink(part.view());
      part.clear();
    }
  }
  sink(part.view());
}

absl::StatusOr<History> History::load(WireReader& in, Revision revision, Revision compacted) {
  History history;
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    std::unique_ptr<KeyRecord> record = read_record(in, revision);
    if (!record || record->key().empty()) return refused("a key's record is malformed");
    const bool ascends = history.records_.empty() || history.records_.rbegin()->first < record->key();
    if (!ascends) return refused("the keys do not ascend");
    for (std::size_t i = 0; i < record->size(); ++i) history.count(*record, (*record)[i], 1);
    if (!record->newest().tombstone()) ++history.live_keys_;
    const std::string_view key = record->key();
    history.index_.insert(record.get());
    history.records_.emplace_hint(history.records_.end(), key, std::move(record));
  }
  if (in.failed()) return refused("it is cut short");
  if (!history.rebuild_queues(compacted)) return refused("two changes have one revision");
  return history;
}

// The versions determine the queues: each version with a successor, and each tombstone, in the order of changes. Changes
// whose versions were freed are missing in the log, and so are the turns of tombstones that were freed before them;
// nobody reads the former, and the latter are passed over.
bool History::rebuild_queues(Revision compacted) {
  struct Changed {
    Revision revision;
    std::uint32_t sub;
    KeyRecord* record;
    std::optional<std::int64_t> replaced;  // the bytes of the version that it replaced
    bool tombstone;
  };
  std::vector<Changed> changes;
  for (const auto& [key, record] : records_) {
    for (std::size_t i = 0; i < record->size(); ++i) {
      const Version& v = (*record)[i];
      const Version* before = i > 0 ? &(*record)[i - 1] : nullptr;
      changes.push_back({v.mod_revision, v.sub, record.get(), replaced_bytes(before, v), v.tombstone()});
    }
    if (record->newest().tombstone()) continue;
    live_counted_ += counted_key(key.size()) + counted_version(record->newest().value().size());
    attachments_.move(key, 0, record->newest().lease);
  }
  const auto place = [](const Changed& c) { return std::make_pair(c.revision, c.sub); };
  std::sort(changes.begin(), changes.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto same = [&](const auto& a, const auto& b) { return place(a) == place(b); };
  if (std::adjacent_find(changes.begin(), changes.end(), same) != changes.end()) return false;
  for (const Changed& change : changes) {
    KeyRecord& record = *change.record;
    if (change.replaced) replaced_.push(change.revision, record, *change.replaced);
    if (change.tombstone) tombstones_.push(change.revision, record, counted_tombstone(record.key().size()));
    if (change.revision >= compacted) changes_.append({change.revision, change.sub}, &record);
  }
  return true;
}

void KvStore::save(Sink sink) const {
  WireWriter first;
  first.u64(kMagic).i64(revision_).i64(compacted_).u8(no_space_).u64(digest());
  sink(first.view());
  history_.save(sink);
  WireWriter leases(leases_.save_bytes());
  leases_.save(leases);
  sink(leases.view());
}

// An upper bound.
std::size_t KvStore::save_bytes() const {
  const std::int64_t history_bytes = history_.bytes() + kVersionBytesMax * history_.versions();
  return 64 + static_cast<std::size_t>(history_bytes) + leases_.save_bytes();
}

absl::StatusOr<KvStore> KvStore::read_snapshot(std::string_view snapshot) {
  WireReader in(snapshot);
  if (in.u64() != kMagic) return refused(in.failed() ? "it is cut short" : "the format is unknown");
  KvStore loaded;
  loaded.revision_ = in.i64();
  loaded.compacted_ = in.i64();
  const std::uint8_t no_space = in.u8();
  loaded.no_space_ = no_space == 1;
  const std::uint64_t digest = in.u64();
  if (!possible(loaded.revision_, loaded.compacted_)) return refused("its revisions are impossible");
  if (no_space > 1) return refused("its alarm is neither raised nor not");
  absl::StatusOr<History> history = History::load(in, loaded.revision_, loaded.compacted_);
  if (!history.ok()) return history.status();
  loaded.leases_ = Leases::load(in);
  if (in.failed()) return refused("its leases are malformed");
  if (!in.ok()) return refused("bytes are left over");
  loaded.history_ = *std::move(history);
  bool granted = true;
  loaded.history_.attachments().visit_leases(
      [&](std::int64_t lease) { granted = granted && loaded.leases_.contains(lease); });
  if (!granted) return refused("a key has a lease that does not exist");
  loaded.history_.release(loaded.compacted_);
  if (loaded.digest() != digest) return refused("the digest is wrong");
  return loaded;
}

absl::StatusOr<StateMachine::Load> KvStore::decode(std::string_view snapshot) {
  absl::StatusOr<KvStore> loaded = read_snapshot(snapshot);
  if (!loaded.ok()) return loaded.status();
  return Load([this, loaded = *std::move(loaded)]() mutable {
    std::swap(history_, loaded.history_);
    std::swap(leases_, loaded.leases_);
    std::swap(revision_, loaded.revision_);
    std::swap(compacted_, loaded.compacted_);
    std::swap(no_space_, loaded.no_space_);
    ++loads_;
  });
}

}  // namespace ingot::kv
