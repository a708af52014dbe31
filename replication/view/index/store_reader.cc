#include "replication/view/index/store_reader.h"

namespace ingot::inline replication_view_index {

absl::StatusOr<StoreReader> StoreReader::open(std::span<const std::byte> memory, const HeapIdentity& identity) {
  auto heap = HeapReader::open(memory, identity);
  if (!heap.ok()) return heap.status();
  return StoreReader(*heap);
}

bool StoreReader::begin() {
  view_.reset();
  const auto root = heap_.begin();
  if (!root || root->heap.user_words == 0) return false;
  heap_root_ = *root;
  view_.emplace(heap_.nodes(), root->user_as<StoreRoot>());
  return true;
}

StoreAnswer StoreReader::get(std::string_view key, StoreRevision revision, StoredVersion& found) {
  auto node = view_->find(key);
  const bool uncertain = node == HeapRef() && !view_->miss_counts();
  if (uncertain && ++misses_ < kMissesMax) return StoreAnswer::kAgain;
  if (uncertain || !node) node = view_->find_in_tree(key);
  misses_ = 0;
  const VersionFound result = node ? look_up(*node, revision, found) : VersionFound::kGarbage;
  return answer(result != VersionFound::kGarbage, result == VersionFound::kFound);
}

// What was read counts only if the heap says so afterwards.
StoreAnswer StoreReader::answer(bool whole, bool any) const {
  if (!heap_.counts()) return StoreAnswer::kAgain;
  if (!whole) return StoreAnswer::kDamaged;
  return any ? StoreAnswer::kFound : StoreAnswer::kNone;
}

VersionFound StoreReader::look_up(HeapRef key, StoreRevision revision, StoredVersion& found) const {
  if (key == HeapRef()) return VersionFound::kNone;
  VersionNode version;
  const VersionFound result = view_->get(key, revision, version);
  if (result != VersionFound::kFound) return result;
  std::string scratch;
  const auto value = version.value(view_->source(), scratch);
  if (!value) return VersionFound::kGarbage;
  found = {version.fields(), std::string(*value)};
  return result;
}

StoreAnswer StoreReader::range(std::string_view begin, std::optional<std::string_view> end, StoreRevision revision,
                               std::size_t most, std::vector<StoredEvent>& found) {
  found.clear();
  bool whole = true;
  const auto visit = [&](std::string_view key, const VersionNode& version) {
    std::string scratch;
    const auto value = version.value(view_->source(), scratch);
    whole = value.has_value();
    if (whole) found.push_back({std::string(key), {version.fields(), std::string(*value)}});
    return whole && found.size() < most;
  };
  whole = (most == 0 || view_->range(begin, end, revision, visit)) && whole;
  return answer(whole, !found.empty());
}

StoreAnswer StoreReader::events(StoreRevision revision, std::size_t most, std::vector<StoredEvent>& found) {
  found.clear();
  const bool whole = most == 0 || view_->events(revision, [&](const StoreEvent& event) {
    found.push_back({std::string(event.key), {event.version, std::string(event.value)}});
    return found.size() < most;
  });
  return answer(whole, !found.empty());
}

}  // namespace ingot::replication_view_index
