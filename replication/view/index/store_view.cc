#include "replication/view/index/store_view.h"

#include <utility>

#include "replication/view/index/key_node.h"
#include "replication/view/index/tree_cursor.h"

namespace ingot::inline replication_view_index {

std::optional<HeapRef> StoreView::find(std::string_view key) const {
  return HashIndex::find(source_, root_.hash, key, key_hash(key));
}

std::optional<HeapRef> StoreView::find_in_tree(std::string_view key) const {
  TreeCursor cursor(source_, root_.tree);
  TreeStep step = cursor.seek(key);
  while (step == TreeStep::kPaused) step = cursor.next();
  if (step == TreeStep::kGarbage) return std::nullopt;
  if (step == TreeStep::kEnd) return HeapRef();
  const auto same = is_key(source_, cursor.key(), key, key_hash(key));
  if (!same) return std::nullopt;
  return *same ? cursor.key() : HeapRef();
}

VersionFound StoreView::get(HeapRef key, StoreRevision revision, VersionNode& found) const {
  const VersionFound result = find_version(source_, key, revision, found);
  return result == VersionFound::kFound && found.fields().tombstone() ? VersionFound::kNone : result;
}

bool StoreView::range(std::string_view begin, std::optional<std::string_view> end, StoreRevision revision,
                      absl::FunctionRef<bool(std::string_view, const VersionNode&)> visit) const {
  TreeCursor cursor(source_, root_.tree);
  KeyNode key;
  VersionNode version;
  std::string scratch, last;
  for (TreeStep step = cursor.seek(begin); step != TreeStep::kEnd; step = cursor.next()) {
    if (step == TreeStep::kPaused) continue;
    if (step == TreeStep::kGarbage || !key.read(source_, cursor.key())) return false;
    const auto bytes = key.key(source_, scratch);
    if (!bytes) return false;
    // The same key twice is nothing wrong for a reader: it was unlinked and has come again meanwhile.
    if (*bytes < last) {
      source_.report("keys of the ordered tree are not in order", offset_of(cursor.key()));
      return false;
    }
    last = *bytes;
    if (end && *bytes >= *end) return true;
    const VersionFound found = get(cursor.key(), revision, version);
    if (found == VersionFound::kGarbage) return false;
    if (found == VersionFound::kFound && !visit(*bytes, version)) return true;
  }
  return true;
}

bool StoreView::events(StoreRevision revision, absl::FunctionRef<bool(const StoreEvent&)> visit) const {
  auto number = RevisionLog::first_from(source_, root_.log, revision);
  if (!number) return false;
  std::string key_scratch, value_scratch;
  std::pair<StoreRevision, std::uint32_t> last{0, 0};
  for (; *number < root_.log.end; ++*number) {
    const auto entry = RevisionLog::at(source_, root_.log, *number);
    VersionNode version;
    KeyNode key;
    if (!entry || !version.read(source_, entry->version, entry->revision)) return false;
    const std::pair at(version.fields().revision, version.fields().sub);
    if (at <= std::exchange(last, at)) {
      source_.report("changes in the log are not in order", offset_of(entry->version));
      return false;
    }
    if (!key.read(source_, version.fields().key)) return false;
    const auto key_bytes = key.key(source_, key_scratch);
    const auto value = version.value(source_, value_scratch);
    if (!key_bytes || !value) return false;
    if (!visit({*key_bytes, *value, version.fields()})) return true;
  }
  return true;
}

}  // namespace ingot::replication_view_index
