#include "replication/view/index/versioned_store.h"

#include <string>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/index/pieces.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr std::uint16_t kUnlink = 1;  // of a tombstone in the retire queue: its key goes, if nothing has come since

// Of a change, but for its pieces: words of the allocator for each of its nodes, the head, the indexes.
constexpr std::size_t kChangeWords = HashIndex::kWords + 128;
constexpr std::size_t kPieceWords = 4;
// Of freeing one entry: chunks of the retire queue, one for 254 nodes.
constexpr std::uint64_t kFreeRoom = 4 * kHeapNodeBytesMax;
constexpr std::size_t kFreeWords = 64;

}  // namespace

VersionedStore::VersionedStore(Heap& heap)
    : heap_(heap), hash_(heap, root_.hash), tree_(heap, root_.tree), log_(heap, root_.log) {
  if (heap.published().heap.user_words != 0) {
    root_ = heap.user<StoreRoot>();
  } else if (!hash_.create()) {
    INGOT_CHECK(!heap.status().ok(), "a new chain has room for the first buckets");
  }
}

StoreRoom VersionedStore::room(std::size_t key_bytes, std::size_t value_bytes) const {
  const std::size_t pieces = pieces_for(key_bytes) + pieces_for(value_bytes);
  const std::size_t words = kChangeWords + kPieceWords * pieces + tree_.words(key_bytes);
  if (heap_.words_left() < words) return StoreRoom::kPublishFirst;
  const std::uint64_t bytes = key_room(key_bytes) + version_room(value_bytes) + HashIndex::kRoom + RevisionLog::kRoom +
                              tree_.room(key_bytes);
  return heap_.has_room(bytes) ? StoreRoom::kYes : StoreRoom::kFull;
}

// ---- Changes -------------------------------------------------------------------------------------------------------

bool VersionedStore::put(std::string_view key, std::string_view value, ChangeAt at, std::int64_t lease) {
  VersionFields fields;
  fields.revision = at.revision;
  fields.version = 1;
  fields.sub = at.sub;
  fields.value_bytes = static_cast<std::uint32_t>(value.size());
  fields.lease = lease;
  return change(key, value, fields);
}

bool VersionedStore::erase(std::string_view key, ChangeAt at) {
  VersionFields fields;
  fields.revision = at.revision;
  fields.sub = at.sub;
  return change(key, {}, fields);
}

// Fills in what follows from the key's newest version.
bool VersionedStore::supersede(VersionFields& fields, HeapRef newest_ref, const VersionFields& newest) {
  if (newest.revision >= fields.revision) {
    heap_.nodes().report("a key that has changed at this revision already", offset_of(newest_ref));
    return false;
  }
  const auto jump = next_jump(heap_.nodes(), newest, newest_ref, root_.compacted);
  if (!jump) return false;
  fields.jump = *jump;
  fields.previous = newest_ref;
  fields.previous_in_pieces = newest.value_bytes > kValueBytesInNode && INGOT_RULE("pieces-known");
  fields.depth = static_cast<std::uint16_t>((newest.depth + 1) % kJumpEvery);
  if (fields.tombstone()) return true;
  fields.version = newest.version + 1;  // 1 behind a tombstone
  fields.created_or_before = newest.tombstone() ? newest.revision : newest.created();
  return true;
}

bool VersionedStore::change(std::string_view key, std::string_view value, VersionFields& fields) {
  const std::uint32_t hash = key_hash(key);
  const auto found = hash_.find(key, hash);
  if (!found) return false;
  const bool fresh = *found == HeapRef();
  VersionNode newest;
  VersionSum dropped;
  bool existed = false;
  if (!fresh) {
    if (find_version(heap_.nodes(), *found, fields.revision, newest) != VersionFound::kFound) return false;
    if (!supersede(fields, newest.ref(), newest.fields())) return false;
    existed = !newest.fields().tombstone();
    if (existed) dropped += sum_of(newest.fields(), key.size());
  }
  if (!existed && fields.tombstone()) {
    heap_.nodes().report("a key that is to be deleted and is not there", fresh ? 0 : offset_of(*found));
    return false;
  }
  const auto node = fresh ? add_key(heap_, key, {}) : found;
  if (!node) return false;
  fields.key = *node;
  fields.share = fields.share_of(key, value);
  const auto version = add_version(heap_, fields, value);
  if (!version) return false;
  if (fields.tombstone()) dropped += sum_of(fields, key.size());
  if (!log_.append(*version, fields.revision, dropped)) return false;
  // All nodes are complete: now the words.
  const KeyHead head{*version, static_cast<std::uint16_t>(fields.revision)};
  if (fresh) {
    heap_.append(key_head_word(*node), head.content());
    if (!hash_.insert(*node, hash) || !tree_.insert(key, *node)) return false;
  } else {
    heap_.set(key_head_word(*node), head.content());
  }
  root_.revision = fields.revision;
  root_.added += sum_of(fields, key.size());
  root_.live_keys += (fields.tombstone() ? 0 : 1);
  root_.live_keys -= (existed ? 1 : 0);
  return heap_.status().ok();
}

bool VersionedStore::take_back(StoreRevision revision) {
  const auto entry = log_.take_back();
  VersionNode version, before;
  KeyNode key;
  if (!entry || !version.read(heap_.nodes(), entry->version, entry->revision)) return false;
  const VersionFields& fields = version.fields();
  if (!key.read(heap_.nodes(), fields.key)) return false;
  const auto dropped = RevisionLog::dropped_by(heap_.nodes(), version);
  if (!dropped) return false;
  root_.log.dropped_at_end = root_.log.dropped_at_end - *dropped;
  root_.added = root_.added - sum_of(fields, key.bytes());
  root_.live_keys += (fields.version == 1 ? 0 : 1);
  root_.live_keys -= (fields.tombstone() ? 0 : 1);
  root_.revision = revision;
  if (fields.previous == HeapRef()) {
    if (!forget(fields.key, key)) return false;
  } else {
    if (!before.read_earlier(heap_.nodes(), fields, VersionNode::Step::kPrevious)) return false;
    const KeyHead head{fields.previous, static_cast<std::uint16_t>(before.fields().revision)};
    heap_.set(key_head_word(fields.key), head.content());
  }
  version.retire(heap_);
  return heap_.status().ok();
}

// Takes a key out of the indexes.
bool VersionedStore::forget(HeapRef ref, const KeyNode& key) {
  std::string scratch;
  const auto bytes = key.key(heap_.nodes(), scratch);
  if (!bytes || !tree_.erase(*bytes, ref)) return false;
  hash_.erase(ref, key.hash());
  key.retire(heap_, ref);
  return heap_.status().ok();
}

bool VersionedStore::compact(StoreRevision revision) {
  INGOT_CHECK(root_.compacted < revision && revision <= root_.revision, "such requests are refused before");
  if (!log_.cut(revision)) return false;
  root_.compacted = revision;
  return true;
}

bool VersionedStore::publish(std::uint64_t now_ms) {
  heap_.set_user(root_);
  return heap_.publish(now_ms);
}

// ---- Memory --------------------------------------------------------------------------------------------------------

bool VersionedStore::free_some(std::size_t entries) {
  VersionNode version, before;
  const std::uint64_t end = INGOT_RULE("frees-compacted") ? root_.log.cut : root_.log.end;
  for (; entries > 0 && root_.log.freed < end; --entries) {
    if (!heap_.has_room(kFreeRoom) || heap_.words_left() < kFreeWords) break;
    const auto entry = RevisionLog::at(heap_.nodes(), root_.log, root_.log.freed);
    if (!entry || !version.read(heap_.nodes(), entry->version, entry->revision)) return false;
    const VersionFields& fields = version.fields();
    // What stands before version 1 is a tombstone, which "unlink" retires: it may be gone, and be something else now.
    const bool supersedes = INGOT_RULE("tombstones-left") ? fields.version != 1 : fields.previous != HeapRef();
    if (supersedes && !fields.previous_in_pieces) {
      heap_.retire(fields.previous);
    } else if (supersedes) {
      if (!before.read_earlier(heap_.nodes(), fields, VersionNode::Step::kPrevious)) return false;
      before.retire(heap_);
    }
    if (fields.tombstone() && INGOT_RULE("unlink-waits")) heap_.retire(version.ref(), kUnlink);
    if (fields.tombstone() && !INGOT_RULE("unlink-waits")) unlink({version.ref(), kUnlink, 0});
    log_.pass();
  }
  return heap_.status().ok() && root_.log.freed < root_.log.cut;
}

std::size_t VersionedStore::reclaim(std::uint64_t now_ms) {
  return heap_.reclaim(now_ms, [this](const Retired& retired) { unlink(retired); });
}

// No read needs that tombstone. If it is still its key's newest version, the key goes, too.
void VersionedStore::unlink(const Retired& retired) {
  VersionNode tombstone;
  KeyNode key;
  if (retired.kind != kUnlink || !tombstone.read(heap_.nodes(), retired.ref)) return;
  const HeapRef ref = tombstone.fields().key;
  const KeyHead head = KeyHead::from(heap_.content(key_head_word(ref)));
  if (head.version == retired.ref || !INGOT_RULE("unlinks-newest")) {
    if (!key.read(heap_.nodes(), ref) || !forget(ref, key)) return;
  }
  tombstone.retire(heap_);
}

// ---- Reading -------------------------------------------------------------------------------------------------------

VersionFound VersionedStore::get(std::string_view key, StoreRevision revision, VersionNode& found) {
  const auto node = hash_.find(key, key_hash(key));
  if (!node) return VersionFound::kGarbage;
  if (*node == HeapRef()) return VersionFound::kNone;
  const VersionFound result = find_version(heap_.nodes(), *node, revision, found);
  return result == VersionFound::kFound && found.fields().tombstone() ? VersionFound::kNone : result;
}

}  // namespace ingot::replication_view_index
