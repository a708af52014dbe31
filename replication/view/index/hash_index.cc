#include "replication/view/index/hash_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/heap/check.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/kinds.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr NodeKind kSegmentKind{.kind = static_cast<std::uint8_t>(IndexNode::kBuckets)};
constexpr NodeKind kBehindKind{.kind = static_cast<std::uint8_t>(IndexNode::kOverflow)};
constexpr NodeWords kBehindWords{.first = 0, .count = kBucketWords};
constexpr int kTagShift = 16;  // a word has the hash's bits from here on

std::uint64_t word_at(std::uint64_t first, std::size_t index) { return first + index * kWordBytes; }

}  // namespace

std::uint64_t HashIndex::bucket_of(std::uint64_t buckets, std::uint32_t hash) {
  const std::uint64_t full = std::bit_floor(buckets);
  const std::uint64_t wide = hash & (2 * full - 1);
  return wide < buckets ? wide : hash & (full - 1);
}

// ---- Reading -------------------------------------------------------------------------------------------------------

// The contents of a bucket; false: one of its words is none of this place.
bool HashIndex::read(const NodeSource& source, std::uint64_t first, Bucket& contents) {
  for (std::size_t i = 0; i < kBucketWords; ++i) {
    const auto content = source.content(word_at(first, i));
    if (!content) return false;
    contents[i] = *content;
  }
  return true;
}

// In which words of a bucket a key with that hash may be, by bits, from what lies there. The words that are not among
// them are not checked.
std::uint32_t HashIndex::likely(const Bucket& words, std::uint32_t hash) {
  std::uint32_t likely = 0;
  for (std::size_t i = 0; i < kBucketKeys; ++i) {
    likely |= std::uint32_t{(words[i] >> 32 & 0xffff) == hash >> kTagShift} << i;
  }
  return likely;
}

std::optional<HeapRef> HashIndex::find_from(const NodeSource& source, std::uint64_t first, std::string_view key,
                                            std::uint32_t hash, std::uint64_t steps_max) {
  Bucket words;
  WalkGuard guard;
  for (std::uint64_t steps = 0; steps < steps_max && !guard.leads_back(first); ++steps) {
    if (!source.load_words(first, words)) return std::nullopt;
    for (std::uint32_t left = likely(words, hash); left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      const auto content = source.content_in(word_at(first, i), words[i]);
      if (!content) return std::nullopt;
      if (ref_in(*content) == HeapRef()) continue;
      const auto same = is_key(source, ref_in(*content), key, hash);
      if (!same) return std::nullopt;
      if (*same) return ref_in(*content);
    }
    // A damaged word may be the key's.
    for (std::size_t i = 0; i < kBucketWords; ++i) {
      if (words[i] != 0 && !source.content_in(word_at(first, i), words[i])) return std::nullopt;
    }
    if (words.back() == 0) return HeapRef();
    first = content_offset(ref_in(words.back()));
  }
  source.report("a bucket leads back to itself, or to too many others", first);
  return std::nullopt;
}

std::optional<HeapRef> HashIndex::find(const NodeSource& source, const HashRoot& root, std::string_view key,
                                       std::uint32_t hash) {
  if (root.buckets == 0) return HeapRef();
  const std::uint64_t bucket = bucket_of(root.buckets, hash);
  const auto segment = Directory::at(source, root.segments, bucket / kSegmentBuckets);
  if (!segment) return std::nullopt;
  return find_from(source, first_word(*segment, bucket), key, hash, kStepsMax);
}

bool HashIndex::miss_counts(const NodeSource& source, const HashRoot& root) {
  return source.content(kSplitsBegunOffset) == root.splits || !INGOT_RULE("splits-compared");
}

std::optional<HeapRef> HashIndex::find(std::string_view key, std::uint32_t hash) {
  const auto first = place(bucket_of(root_.buckets, hash));
  if (!first) return std::nullopt;
  return find_from(heap_.nodes(), *first, key, hash, ~std::uint64_t{0});
}

// Where a bucket's words begin; nothing: damage.
std::optional<std::uint64_t> HashIndex::place(std::uint64_t bucket) {
  const std::uint64_t number = bucket / kSegmentBuckets;
  if (number >= segments_.size()) segments_.resize(root_.segments.count);
  if (segments_[number] == HeapRef()) {
    const auto segment = Directory::at(heap_.nodes(), root_.segments, number);
    if (!segment) return std::nullopt;
    segments_[number] = *segment;
  }
  return first_word(segments_[number], bucket);
}

// Reads a bucket and those behind it into chain_; false: damage.
bool HashIndex::read_chain(std::uint64_t bucket) {
  chain_.clear();
  const auto first = place(bucket);
  if (!first) return false;
  chain_.push_back({*first, HeapRef(), {}});
  WalkGuard guard;
  while (read(heap_.nodes(), chain_.back().offset, chain_.back().contents)) {
    const HeapRef behind = ref_in(chain_.back().contents.back());
    if (behind == HeapRef()) return true;
    if (guard.leads_back(content_offset(behind))) {
      heap_.nodes().report("a bucket leads back to itself", *first);
      return false;
    }
    chain_.push_back({content_offset(behind), behind, {}});
  }
  return false;
}

// ---- Changes -------------------------------------------------------------------------------------------------------

bool HashIndex::create() {
  if (!add_segment()) return false;
  for (; root_.buckets < kFirstBuckets; ++root_.buckets) {
    if (!fill(root_.buckets, {})) return false;
  }
  return true;
}

bool HashIndex::insert(HeapRef key, std::uint32_t hash) {
  if (!read_chain(bucket_of(root_.buckets, hash))) return false;
  ++root_.keys;
  for (const Place& bucket : chain_) {
    const auto free = std::find(bucket.contents.begin(), bucket.contents.end() - 1, 0);
    if (free == bucket.contents.end() - 1) continue;
    heap_.set(word_at(bucket.offset, static_cast<std::size_t>(free - bucket.contents.begin())), content(key, hash));
    return root_.keys <= kKeysPerBucket * root_.buckets || split();
  }
  const std::uint64_t keys[] = {content(key, hash)};
  const auto behind = add_behind(keys);
  if (!behind) return false;
  heap_.set(word_at(chain_.back().offset, kBucketKeys), behind->value());
  return root_.keys <= kKeysPerBucket * root_.buckets || split();
}

void HashIndex::erase(HeapRef key, std::uint32_t hash) {
  if (!read_chain(bucket_of(root_.buckets, hash))) return;
  for (const Place& bucket : chain_) {
    for (std::size_t i = 0; i < kBucketKeys; ++i) {
      if (bucket.contents[i] != content(key, hash)) continue;
      --root_.keys;
      return heap_.set(word_at(bucket.offset, i), 0);
    }
  }
  heap_.nodes().report("a key's node is not in the hash index", offset_of(key));
}

// A node with these keys, and more of them behind it; none if there are no keys. Nothing: no memory.
std::optional<HeapRef> HashIndex::add_behind(std::span<const std::uint64_t> keys) {
  HeapRef behind;
  while (!keys.empty()) {
    const std::size_t count = (keys.size() - 1) % kBucketKeys + 1;
    Bucket contents{};
    std::copy(keys.end() - static_cast<std::ptrdiff_t>(count), keys.end(), contents.begin());
    contents.back() = behind.value();
    const auto added = heap_.add(kBehindKind, contents, kBehindWords);
    if (!added) return std::nullopt;
    behind = *added;
    keys = keys.first(keys.size() - count);
  }
  return behind;
}

bool HashIndex::add_segment() {
  const auto segment = heap_.allocate(kHeapNodeBytesMax);
  if (!segment) return false;
  heap_.write(*segment, kSegmentKind, {});
  return directory_.append(*segment);
}

// Writes a bucket that no root has yet: all its words, since memory that was used before has any content.
bool HashIndex::fill(std::uint64_t bucket, std::span<const std::uint64_t> keys) {
  const auto first = place(bucket);
  if (!first) return false;
  const auto here = keys.first(std::min(keys.size(), kBucketKeys));
  const auto behind = add_behind(keys.subspan(here.size()));
  if (!behind) return false;
  const std::size_t words = INGOT_RULE("buckets-cleared") ? kBucketKeys : here.size();
  for (std::size_t i = 0; i < words; ++i) heap_.append(word_at(*first, i), i < here.size() ? here[i] : 0);
  heap_.append(word_at(*first, kBucketKeys), behind->value());
  return true;
}

// Whether a key belongs to the new one of two buckets: by bit `level` of its hash. False for damage, too.
bool HashIndex::goes_up(std::uint64_t content, int level) {
  if (level >= kTagShift) return (content >> 32 >> (level - kTagShift) & 1) != 0;
  KeyNode key;
  return key.read(heap_.nodes(), ref_in(content)) && (key.hash() >> level & 1) != 0;
}

// Makes bucket number root.buckets of the one that has had its keys.
bool HashIndex::split() {
  const std::uint64_t made = root_.buckets;
  const int level = std::bit_width(made) - 1;
  if (!read_chain(made - std::bit_floor(made))) return false;
  if (chain_.size() > kSplitChainMax) return true;
  if (made == root_.segments.count * kSegmentBuckets && !add_segment()) return false;
  std::vector<std::uint64_t> up, places;
  for (Place& bucket : chain_) {
    for (std::size_t i = 0; i < kBucketKeys; ++i) {
      if (bucket.contents[i] == 0 || !goes_up(bucket.contents[i], level)) continue;
      up.push_back(std::exchange(bucket.contents[i], 0));
      places.push_back(word_at(bucket.offset, i));
    }
  }
  if (!heap_.status().ok() || !fill(made, up)) return false;
  // Before the first word is cleared: a reader that misses one of these keys sees it.
  if (INGOT_RULE("splits-begun-first")) heap_.set(kSplitsBegunOffset, root_.splits + 1);
  for (const std::uint64_t place : places) heap_.set(place, 0);
  pull_up();
  if (!INGOT_RULE("splits-begun-first")) heap_.set(kSplitsBegunOffset, root_.splits + 1);
  ++root_.splits;
  ++root_.buckets;
  return heap_.status().ok();
}

// Moves keys from the last buckets of the chain to the first ones that have room, and retires those left empty.
void HashIndex::pull_up() {
  const auto free_in = [](Place& bucket) {
    return std::find(bucket.contents.begin(), bucket.contents.end() - 1, 0);
  };
  for (std::size_t to = 0; chain_.size() > 1;) {
    Place& last = chain_.back();
    for (std::size_t i = 0; i < kBucketKeys; ++i) {
      if (last.contents[i] == 0) continue;
      while (to + 1 < chain_.size() && free_in(chain_[to]) == chain_[to].contents.end() - 1) ++to;
      if (to + 1 >= chain_.size()) return;
      const auto free = free_in(chain_[to]);
      *free = std::exchange(last.contents[i], 0);
      heap_.set(word_at(chain_[to].offset, static_cast<std::size_t>(free - chain_[to].contents.begin())), *free);
      heap_.set(word_at(last.offset, i), 0);
    }
    heap_.set(word_at(chain_[chain_.size() - 2].offset, kBucketKeys), 0);
    heap_.retire(last.node);
    chain_.pop_back();
  }
}

}  // namespace ingot::replication_view_index
