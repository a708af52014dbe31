#include "replication/view/index/revision_log.h"

#include <algorithm>
#include <span>

#include "replication/view/index/key_node.h"
#include "replication/view/index/kinds.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr NodeKind kChunkKind{.kind = static_cast<std::uint8_t>(IndexNode::kLogChunk)};
constexpr std::size_t kChunkFields = 5;
constexpr NodeWords kEntries{.first = kChunkFields, .count = kLogChunkEntries};
constexpr std::size_t kChunkWords = kNodeHeaderWords + kChunkFields + kLogChunkEntries;
static_assert(kChunkWords * kWordBytes <= kHeapNodeBytesMax);

std::uint64_t entry_word(HeapRef chunk, std::uint64_t number) {
  return content_offset(chunk, kChunkFields + number % kLogChunkEntries);
}

}  // namespace

// ---- Reading -------------------------------------------------------------------------------------------------------

std::optional<LogEntry> RevisionLog::at(const NodeSource& source, const LogRoot& root, std::uint64_t number) {
  const auto chunk = Directory::at(source, root.chunks, number / kLogChunkEntries);
  if (!chunk) return std::nullopt;
  const auto content = source.content(entry_word(*chunk, number));
  if (!content) return std::nullopt;
  return LogEntry{HeapRef(static_cast<std::uint32_t>(*content)), static_cast<std::uint16_t>(*content >> 32)};
}

std::optional<RevisionLog::Chunk> RevisionLog::read_chunk(const NodeSource& source, const LogRoot& root,
                                                          std::uint64_t number) {
  const auto ref = Directory::at(source, root.chunks, number);
  std::array<std::uint64_t, kChunkWords> node;
  if (!ref || !source.copy(*ref, node, kEntries)) return std::nullopt;
  const auto content = std::span(node).subspan(kNodeHeaderWords);
  if (kind_of(node[0]) == kChunkKind && content[0] == number * kLogChunkEntries) {
    return Chunk{content[0], static_cast<StoreRevision>(content[1]), {content[2], content[3], content[4]}};
  }
  source.report("a node that is no chunk of the log", offset_of(*ref));
  return std::nullopt;
}

std::optional<StoreRevision> RevisionLog::revision_of(const NodeSource& source, const LogRoot& root,
                                                      std::uint64_t number) {
  const auto entry = at(source, root, number);
  VersionNode version;
  if (!entry || !version.read(source, entry->version, entry->revision)) return std::nullopt;
  return version.fields().revision;
}

std::optional<std::uint64_t> RevisionLog::first_from(const NodeSource& source, const LogRoot& root,
                                                     StoreRevision revision) {
  // Chunks from `above` on begin at the revision or above it, those before `below` begin below it, or before the cut.
  std::uint64_t below = root.cut / kLogChunkEntries + 1, above = root.chunks.count;
  while (below < above) {
    const std::uint64_t middle = below + (above - below) / 2;
    const auto chunk = read_chunk(source, root, middle);
    if (!chunk) return std::nullopt;
    (chunk->revision < revision ? below : above) = chunk->revision < revision ? middle + 1 : middle;
  }
  std::uint64_t from = std::max(root.cut, (below - 1) * kLogChunkEntries);
  std::uint64_t to = std::min(root.end, below * kLogChunkEntries);
  while (from < to) {
    const std::uint64_t middle = from + (to - from) / 2;
    const auto found = revision_of(source, root, middle);
    if (!found) return std::nullopt;
    (*found < revision ? from : to) = *found < revision ? middle + 1 : middle;
  }
  return from;
}

std::optional<VersionSum> RevisionLog::dropped_by(const NodeSource& source, const VersionNode& version) {
  const VersionFields& fields = version.fields();
  VersionSum dropped;
  if (fields.version == 1) return dropped;
  KeyNode key;
  VersionNode before;
  if (!key.read(source, fields.key) || !before.read_earlier(source, fields, VersionNode::Step::kPrevious)) {
    return std::nullopt;
  }
  dropped += sum_of(before.fields(), key.bytes());
  if (fields.tombstone()) dropped += sum_of(fields, key.bytes());
  return dropped;
}

// ---- Changes -------------------------------------------------------------------------------------------------------

bool RevisionLog::append(HeapRef version, StoreRevision revision, const VersionSum& dropped) {
  if (root_.end == root_.chunks.count * kLogChunkEntries && !add_chunk(revision)) return false;
  if (last_ == HeapRef()) {
    const auto last = Directory::at(heap_.nodes(), root_.chunks, root_.end / kLogChunkEntries);
    if (!last) return false;
    last_ = *last;
  }
  heap_.append(entry_word(last_, root_.end), version.value() | (static_cast<std::uint64_t>(revision) & 0xffff) << 32);
  ++root_.end;
  root_.dropped_at_end += dropped;
  return true;
}

bool RevisionLog::add_chunk(StoreRevision revision) {
  const auto chunk = heap_.allocate(kHeapNodeBytesMax);
  if (!chunk) return false;
  std::array<std::uint64_t, kChunkFields + kLogChunkEntries> content{};
  content[0] = root_.end;
  content[1] = static_cast<std::uint64_t>(revision);
  content[2] = root_.dropped_at_end.share;
  content[3] = root_.dropped_at_end.versions;
  content[4] = root_.dropped_at_end.bytes;
  heap_.write(*chunk, kChunkKind, content, kEntries);
  last_ = *chunk;
  return directory_.append(*chunk);
}

// A chunk that is left empty stays: its revision, and what was dropped before it, are the next entry's, too.
std::optional<LogEntry> RevisionLog::take_back() {
  const auto entry = at(heap_.nodes(), root_, root_.end - 1);
  if (!entry) return std::nullopt;
  --root_.end;
  last_ = HeapRef();
  return entry;
}

bool RevisionLog::cut(StoreRevision compacted) {
  const auto cut = first_from(heap_.nodes(), root_, compacted + 1);
  if (!cut) return false;
  VersionSum dropped = root_.dropped_at_cut;
  std::uint64_t number = root_.cut;
  if (*cut == root_.end) {
    dropped = root_.dropped_at_end;
    number = *cut;
  } else if (*cut / kLogChunkEntries > number / kLogChunkEntries) {
    const auto chunk = read_chunk(heap_.nodes(), root_, *cut / kLogChunkEntries);
    if (!chunk) return false;
    dropped = chunk->dropped;
    number = chunk->first;
  }
  for (; number < *cut; ++number) {
    const auto entry = at(heap_.nodes(), root_, number);
    VersionNode version;
    if (!entry || !version.read(heap_.nodes(), entry->version, entry->revision)) return false;
    const auto by_it = dropped_by(heap_.nodes(), version);
    if (!by_it) return false;
    dropped += *by_it;
  }
  root_.cut = *cut;
  root_.dropped_at_cut = dropped;
  return true;
}

void RevisionLog::pass() {
  const std::uint64_t number = root_.freed / kLogChunkEntries;
  ++root_.freed;
  if (root_.freed % kLogChunkEntries != 0) return;
  const auto chunk = Directory::at(heap_.nodes(), root_.chunks, number);
  if (!chunk) return;
  heap_.retire(*chunk);
  directory_.drop(number);
}

}  // namespace ingot::replication_view_index
