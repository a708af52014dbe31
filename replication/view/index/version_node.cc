#include "replication/view/index/version_node.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/stable_hash.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/kinds.h"
#include "replication/view/index/pieces.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr std::size_t kFixedWords = 6;  // of the content
constexpr std::size_t kLeaseWords = 1;
constexpr std::size_t kJumpWords = 2;
constexpr std::size_t kLineWords = kNodeHeaderWords + kFixedWords;  // what tells the node's size
constexpr std::uint64_t kStepsMax = 10'000;  // to an old version; with jumps there are fewer

enum Flag : std::uint8_t { kTombstone = 1, kHasLease = 2, kHasJump = 4, kPreviousInPieces = 8 };
constexpr std::uint8_t kFlags = 15;

std::size_t value_word_count(std::size_t bytes) {
  return bytes > kValueBytesInNode ? piece_words(bytes) : words_for(bytes);
}
std::size_t extra_words(std::uint8_t flags) {
  return ((flags & kHasLease) != 0 ? kLeaseWords : 0) + ((flags & kHasJump) != 0 ? kJumpWords : 0);
}
std::uint64_t both(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; }
std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

}  // namespace

std::uint64_t VersionFields::share_of(std::string_view key, std::string_view value) const {
  std::uint64_t hash = hash_bytes(value, hash_bytes(key));
  hash = mix(hash, static_cast<std::uint64_t>(revision));
  hash = mix(hash, static_cast<std::uint64_t>(created()));
  hash = mix(hash, static_cast<std::uint64_t>(version));
  hash = mix(hash, static_cast<std::uint64_t>(lease));
  return mix(hash, sub);
}

// ---- One version ---------------------------------------------------------------------------------------------------

bool VersionNode::read(const NodeSource& source, HeapRef ref, std::optional<std::uint16_t> revision_tag) {
  ref_ = ref;
  if (!source.load(ref, 0, std::span(image_).first(kLineWords))) return false;
  const std::size_t bytes = high(image_[kNodeHeaderWords + 4]);
  const std::uint8_t flags = kind_of(image_[0]).flags;
  words_ = kLineWords + extra_words(flags) + (bytes > kStoredBytesMax ? 0 : value_word_count(bytes));
  const auto rest = std::span(image_).subspan(kLineWords, words_ - kLineWords);
  if (source.load(ref, kLineWords, rest) && node_fits(ref, std::span(image_).first(words_)) && take_fields(bytes) &&
      (!revision_tag || *revision_tag == static_cast<std::uint16_t>(fields_.revision))) {
    return true;
  }
  source.report("a version", offset_of(ref));
  return false;
}

// False: these are no version's.
bool VersionNode::take_fields(std::size_t bytes) {
  const NodeKind kind = kind_of(image_[0]);
  const auto content = std::span(image_).subspan(kNodeHeaderWords);
  fields_ = {.share = content[0],
             .revision = static_cast<StoreRevision>(content[1]),
             .created_or_before = static_cast<StoreRevision>(content[2]),
             .version = static_cast<std::int64_t>(content[3]),
             .sub = low(content[4]),
             .value_bytes = high(content[4]),
             .previous = HeapRef(low(content[5])),
             .key = HeapRef(high(content[5])),
             .lease = 0,
             .jump = {},
             .depth = kind.depth,
             .previous_in_pieces = (kind.flags & kPreviousInPieces) != 0};
  std::size_t at = kFixedWords;
  if ((kind.flags & kHasLease) != 0) fields_.lease = static_cast<std::int64_t>(content[at++]);
  if ((kind.flags & kHasJump) != 0) {
    fields_.jump = {static_cast<StoreRevision>(content[at]), HeapRef(low(content[at + 1])), high(content[at + 1])};
  }
  return kind.kind == static_cast<std::uint8_t>(IndexNode::kVersion) && kind.flags <= kFlags &&
         kind.depth < kJumpEvery && bytes <= kStoredBytesMax &&
         ((kind.flags & kTombstone) != 0) == fields_.tombstone();
}

bool VersionNode::read_earlier(const NodeSource& source, VersionFields later, Step step) {
  const bool jump = step == Step::kJump;
  const HeapRef ref = jump ? later.jump.version : later.previous;
  if (!read(source, ref)) return false;
  const std::uint16_t depth = jump ? 0 : static_cast<std::uint16_t>((later.depth + kJumpEvery - 1) % kJumpEvery);
  const bool falls = std::pair(fields_.revision, fields_.sub) < std::pair(later.revision, later.sub);
  const bool fits = fields_.key == later.key && fields_.depth == depth;
  if (falls && fits && (!jump || fields_.revision == later.jump.revision)) return true;
  source.report("a version leads to one that is not earlier", offset_of(ref));
  return false;
}

std::span<const std::uint64_t> VersionNode::value_words() const {
  const std::size_t words = value_word_count(fields_.value_bytes);
  return std::span(image_).subspan(words_ - words, words);
}

std::optional<std::string_view> VersionNode::value(const NodeSource& source, std::string& scratch) const {
  if (!in_pieces()) return bytes_in(value_words(), fields_.value_bytes);
  scratch.clear();
  if (!read_pieces(source, value_words(), fields_.value_bytes, scratch)) return std::nullopt;
  return scratch;
}

void VersionNode::retire(Heap& heap) const {
  if (in_pieces()) retire_pieces(heap, value_words(), fields_.value_bytes);
  heap.retire(ref_);
}

std::optional<HeapRef> add_version(Heap& heap, const VersionFields& fields, std::string_view value) {
  INGOT_CHECK(value.size() <= kStoredBytesMax && value.size() == fields.value_bytes, "requests are refused before");
  const bool lease = fields.lease != 0;
  const bool jump = fields.jump.version != HeapRef();
  const auto flags = static_cast<std::uint8_t>((fields.tombstone() ? kTombstone : 0) | (lease ? kHasLease : 0) |
                                               (jump ? kHasJump : 0) |
                                               (fields.previous_in_pieces ? kPreviousInPieces : 0));
  const std::size_t value_words = value_word_count(value.size());
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes - kNodeHeaderWords> image;
  const auto content = std::span(image).first(kFixedWords + extra_words(flags) + value_words);
  content[0] = fields.share;
  content[1] = static_cast<std::uint64_t>(fields.revision);
  content[2] = static_cast<std::uint64_t>(fields.created_or_before);
  content[3] = static_cast<std::uint64_t>(fields.version);
  content[4] = both(fields.sub, fields.value_bytes);
  content[5] = both(fields.previous.value(), fields.key.value());
  std::size_t at = kFixedWords;
  if (lease) content[at++] = static_cast<std::uint64_t>(fields.lease);
  if (jump) {
    content[at] = static_cast<std::uint64_t>(fields.jump.revision);
    content[at + 1] = both(fields.jump.version.value(), fields.jump.distance);
  }
  if (value.size() <= kValueBytesInNode) {
    fill_words(content.last(value_words), value);
  } else if (!add_pieces(heap, value, content.last(value_words))) {
    return std::nullopt;
  }
  return heap.add({static_cast<std::uint8_t>(IndexNode::kVersion), flags, fields.depth}, content);
}

std::size_t version_room(std::size_t value_bytes) {
  const std::size_t words = kFixedWords + kLeaseWords + kJumpWords + value_word_count(value_bytes);
  return node_bytes(words) + (value_bytes > kValueBytesInNode ? pieces_for(value_bytes) * kHeapNodeBytesMax : 0);
}

// ---- Chains --------------------------------------------------------------------------------------------------------

VersionFound find_version(const NodeSource& source, HeapRef key, StoreRevision revision, VersionNode& found) {
  const auto head = source.content(key_head_word(key));
  if (!head) return VersionFound::kGarbage;
  if (*head == 0) return VersionFound::kNone;
  if (!found.read(source, KeyHead::from(*head).version, KeyHead::from(*head).revision)) return VersionFound::kGarbage;
  const VersionFields& fields = found.fields();
  if (fields.key != key) {
    source.report("a version of another key", offset_of(found.ref()));
    return VersionFound::kGarbage;
  }
  for (std::uint64_t steps = 0; steps < kStepsMax; ++steps) {
    if (fields.revision <= revision) return VersionFound::kFound;
    // What is not above the revision may be gone, but for the one version that is in force there.
    if (!fields.has_predecessor_at(revision)) return VersionFound::kNone;
    const auto step = fields.jumps_above(revision) ? VersionNode::Step::kJump : VersionNode::Step::kPrevious;
    if (!found.read_earlier(source, fields, step)) return VersionFound::kGarbage;
  }
  source.report("a key has too many versions without jumps", offset_of(found.ref()));
  return VersionFound::kGarbage;
}

std::optional<VersionJump> next_jump(const NodeSource& source, const VersionFields& newest, HeapRef newest_ref,
                                     StoreRevision compacted) {
  if ((newest.depth + 1) % kJumpEvery != 0) return VersionJump{};
  VersionNode node;
  VersionFields earlier = newest;
  HeapRef ref = newest_ref;
  while (earlier.depth != 0) {
    if (!earlier.keeps_predecessor(compacted)) return VersionJump{};
    ref = earlier.previous;
    if (!node.read_earlier(source, earlier, VersionNode::Step::kPrevious)) return std::nullopt;
    earlier = node.fields();
  }
  const VersionJump nearest{earlier.revision, ref, 1};
  const VersionJump& first = earlier.jump;
  if (!earlier.jumps_above(compacted)) return nearest;
  if (!node.read_earlier(source, earlier, VersionNode::Step::kJump)) return std::nullopt;
  const VersionJump second = node.fields().jump;
  if (second.version == HeapRef() || second.distance != first.distance) return nearest;
  return VersionJump{second.revision, second.version, 1 + first.distance + second.distance};
}

}  // namespace ingot::replication_view_index
