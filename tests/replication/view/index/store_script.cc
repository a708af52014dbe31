#include "tests/replication/view/index/store_script.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/pieces.h"
#include "tests/replication/view/heap/books.h"
#include "tests/replication/view/index/tree_store.h"

namespace ingot::test {
namespace {

std::string draw_text(Prng& prng, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>('a' + prng.below(26));
  return text;
}

std::size_t draw_size(Prng& prng, std::size_t in_node) {
  const std::uint64_t dice = prng.below(100);
  if (dice < 80) return prng.below(std::min<std::size_t>(in_node, 80));
  if (dice < 90) return in_node - 2 + prng.below(5);
  return in_node + prng.below(4 * kPieceBytes);
}

}  // namespace

std::vector<std::string> draw_store_keys(Prng& prng, std::size_t count) {
  std::set<std::string> keys;
  const std::string prefix = draw_text(prng, 6);
  while (keys.size() < count) {
    const std::size_t bytes = prng.chance(0.9) ? prng.below(12) : draw_size(prng, kKeyBytesInNode);
    keys.insert((prng.chance(0.5) ? prefix : "") + draw_text(prng, 1 + bytes));
  }
  return {keys.begin(), keys.end()};
}

// ---- Changes -------------------------------------------------------------------------------------------------------

void StoreScript::batch(VersionedStore& store, Prng& prng) {
  before_ = 0;
  for (std::uint64_t left = 1 + prng.below(5); left > 0 && step(store, prng); --left) {
  }
}

bool StoreScript::step(VersionedStore& store, Prng& prng) {
  if (!store.status().ok()) return false;
  std::uint64_t dice = prng.below(mix_.puts + mix_.erases + mix_.compactions + mix_.frees + mix_.taken_back);
  const auto is = [&dice](std::uint64_t share) {
    const bool is = dice < share;
    dice -= is ? 0 : share;
    return is;
  };
  if (is(mix_.puts)) return change(store, prng, false);
  if (is(mix_.erases)) return change(store, prng, true);
  if (is(mix_.compactions)) {
    const ModelRoot& root = model_.root();
    if (root.compacted == root.revision) return true;
    const auto above = static_cast<std::uint64_t>(root.revision - root.compacted);
    const StoreRevision to = root.compacted + 1 + static_cast<StoreRevision>(prng.below(above));
    before_ = 0;
    model_.compact(to);
    return store.compact(to);
  }
  if (is(mix_.frees)) {
    before_ = 0;
    static_cast<void>(store.free_some(1 + prng.below(12)));
    return store.status().ok();
  }
  if (before_ == 0 || store.room(0, 0) != StoreRoom::kYes) return true;
  model_.take_back(before_);
  return store.take_back(std::exchange(before_, 0));
}

// A fifth of the changes have the revision of the one before.
bool StoreScript::change(VersionedStore& store, Prng& prng, bool erases) {
  const ModelRoot root = model_.root();
  const std::string& key = keys_[prng.below(keys_.size())];
  if (erases && !model_.exists(key)) return true;
  const bool together = before_ != 0 && prng.chance(0.2) && model_.changed(key) < root.revision;
  const StoreRevision revision = together ? root.revision : root.revision + 1;
  const std::uint32_t sub = together ? static_cast<std::uint32_t>(root.changes) : 0;
  const std::string value = erases ? "" : draw_text(prng, draw_size(prng, kValueBytesInNode));
  if (store.room(key.size(), value.size()) != StoreRoom::kYes) return false;
  before_ = root.revision;
  if (erases) {
    model_.erase(key, revision, sub);
    return store.erase(key, {revision, sub});
  }
  const std::int64_t lease = prng.chance(0.1) ? static_cast<std::int64_t>(1 + prng.below(1000)) : 0;
  model_.put(key, value, revision, sub, lease);
  return store.put(key, value, {revision, sub}, lease);
}

// ---- Answers -------------------------------------------------------------------------------------------------------

namespace {

std::optional<std::string> range_text(const StoreView& view, const std::string& begin,
                                      const std::optional<std::string>& end, StoreRevision revision) {
  std::vector<SeenVersion> found;
  bool whole = true;
  std::string scratch;
  whole = view.range(begin, end, revision, [&](std::string_view key, const VersionNode& version) {
    const auto value = version.value(view.source(), scratch);
    if (value) found.push_back(seen(key, *value, version.fields()));
    whole = value.has_value();
    return whole;
  }) && whole;
  return whole ? to_text(found) : "damage";
}

std::optional<std::string> events_text(const StoreView& view, StoreRevision revision, std::size_t most) {
  std::vector<SeenVersion> found;
  const bool whole = view.events(revision, [&](const StoreEvent& event) {
    found.push_back(seen(event.key, event.value, event.version));
    return found.size() < most;
  });
  return whole ? to_text(found) : "damage";
}

std::string get_text(const StoreView& view, const std::string& key, VersionFound found, const VersionNode& version) {
  std::string scratch;
  if (found == VersionFound::kNone) return "none";
  const auto value = found == VersionFound::kFound ? version.value(view.source(), scratch) : std::nullopt;
  return value ? to_text(seen(key, *value, version.fields())) : "damage";
}

std::optional<std::string> text_of(StoreAnswer answer, const std::vector<StoredEvent>& found) {
  if (answer == StoreAnswer::kAgain) return std::nullopt;
  if (answer == StoreAnswer::kDamaged) return "damage";
  std::vector<SeenVersion> versions;
  for (const StoredEvent& each : found) versions.push_back(seen(each.key, each.version.value, each.version.fields));
  return to_text(versions);
}

}  // namespace

StoreAnswers answers_of(VersionedStore& store) {
  return {
      [&store](const std::string& key, StoreRevision revision) {
        VersionNode version;
        const VersionFound found = store.get(key, revision, version);
        return get_text(store.view(), key, found, version);
      },
      [&store](const std::string& begin, const std::optional<std::string>& end, StoreRevision revision) {
        return range_text(store.view(), begin, end, revision);
      },
      [&store](StoreRevision revision, std::size_t most) { return events_text(store.view(), revision, most); },
  };
}

StoreAnswers answers_of(const StoreView& view) {
  return {
      [&view](const std::string& key, StoreRevision revision) -> std::optional<std::string> {
        auto node = view.find(key);
        if (node == HeapRef() && !view.miss_counts()) node = view.find_in_tree(key);
        VersionNode version;
        if (!node) return "damage";
        const VersionFound found = *node == HeapRef() ? VersionFound::kNone : view.get(*node, revision, version);
        return get_text(view, key, found, version);
      },
      [&view](const std::string& begin, const std::optional<std::string>& end, StoreRevision revision) {
        return range_text(view, begin, end, revision);
      },
      [&view](StoreRevision revision, std::size_t most) { return events_text(view, revision, most); },
  };
}

StoreAnswers answers_of(StoreReader& reader) {
  return {
      [&reader](const std::string& key, StoreRevision revision) -> std::optional<std::string> {
        StoredVersion found;
        const StoreAnswer answer = reader.get(key, revision, found);
        if (answer == StoreAnswer::kNone) return "none";
        if (answer == StoreAnswer::kAgain) return std::nullopt;
        return answer == StoreAnswer::kFound ? to_text(seen(key, found.value, found.fields)) : "damage";
      },
      [&reader](const std::string& begin, const std::optional<std::string>& end, StoreRevision revision) {
        std::vector<StoredEvent> found;
        const StoreAnswer answer = reader.range(begin, end, revision, ~std::size_t{0}, found);
        return text_of(answer, found);
      },
      [&reader](StoreRevision revision, std::size_t most) {
        std::vector<StoredEvent> found;
        const StoreAnswer answer = reader.events(revision, most, found);
        return text_of(answer, found);
      },
  };
}

// ---- The books -----------------------------------------------------------------------------------------------------

namespace {

// The words of a node with pieces that lead to them.
void reach_pieces(const NodeSource& nodes, HeapRef ref, std::size_t first_word, std::size_t bytes, Reached& reached) {
  for (std::size_t i = 0; i < pieces_for(bytes); ++i) {
    const std::uint64_t word = *nodes.peek(ref, first_word + i / 2);
    reached.add(HeapRef(static_cast<std::uint32_t>(word >> i % 2 * 32)), "a piece is reached twice");
  }
}

struct VersionsReached {
  NodeSource nodes;
  Reached& reached;
  std::set<std::uint32_t> seen = {};

  bool add(HeapRef ref) {
    VersionNode version;
    if (!seen.insert(ref.value()).second) return true;
    if (!version.read(nodes, ref)) return false;
    reached.add(ref, "a version is something else, too");
    const VersionFields& fields = version.fields();
    const std::size_t first = 6 + (fields.lease != 0 ? 1 : 0) + (fields.jump.version != HeapRef() ? 2 : 0);
    if (version.in_pieces()) reach_pieces(nodes, ref, first, fields.value_bytes, reached);
    return true;
  }
};

}  // namespace

std::string check_store_books(Heap& heap, std::span<const std::byte> memory) {
  const NodeSource nodes = heap.nodes();
  const StoreRoot root = heap.user<StoreRoot>();
  Reached reached;
  if (std::string wrong = check_tree(nodes, root.tree, reached); !wrong.empty()) return wrong;
  VersionsReached versions{nodes, reached};
  std::set<std::uint32_t> waiting;
  for (std::size_t i = 0; i < heap.retire_queue().size(); ++i) {
    const auto entry = heap.retire_queue().at(i);
    if (entry && entry->kind != kRetiredNode) waiting.insert(entry->ref.value());
  }
  std::uint64_t keys = 0;
  std::string wrong;
  const bool hash = HashIndex::for_each_node(
      nodes, root.hash, [&](HeapRef ref) { reached.add(ref, "a bucket is reached twice"); },
      [&](HeapRef key, std::uint64_t bucket) {
        ++keys;
        KeyNode node;
        VersionNode newest;
        if (!reached.nodes.contains(key.value())) wrong = "a key is not in the tree";
        if (!node.read(nodes, key) || HashIndex::bucket_of(root.hash.buckets, node.hash()) != bucket) {
          wrong = "a key is in another key's bucket";
        }
        const HeapRef head = KeyHead::from(heap.content(key_head_word(key))).version;
        if (!versions.add(head) || !newest.read(nodes, head)) return;
        const bool freed = newest.fields().revision <= root.compacted && root.log.freed == root.log.cut;
        if (newest.fields().tombstone() && freed && !waiting.contains(head.value())) wrong = "a key stays for ever";
      });
  if (!hash || keys != root.hash.keys || keys != root.tree.keys) return "keys are miscounted";
  for (std::uint64_t number = root.log.freed; number < root.log.end; ++number) {
    const auto entry = RevisionLog::at(nodes, root.log, number);
    VersionNode version;
    if (!entry || !versions.add(entry->version) || !version.read(nodes, entry->version, entry->revision)) break;
    if (version.fields().version != 1 && !versions.add(version.fields().previous)) break;
  }
  for (const std::uint32_t ref : waiting) static_cast<void>(versions.add(HeapRef(ref)));
  const bool log = RevisionLog::for_each_node(nodes, root.log, [&](HeapRef ref) {
    reached.add(ref, "a node of the log is reached twice");
  });
  if (!log || !heap.status().ok()) return "damage: " + std::string(heap.status().message());
  if (!wrong.empty()) return wrong;
  return compare_books(heap, memory, std::move(reached));
}

}  // namespace ingot::test
