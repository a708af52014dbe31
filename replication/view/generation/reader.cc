#include "replication/view/generation/reader.h"

#include <bit>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/rule.h"
#include "replication/view/generation/key_hash.h"
#include "replication/view/generation/tree_walk.h"

namespace ingot::inline replication_view_generation {
namespace {

constexpr std::uint64_t kSeekCompares = kTreeLevelsMax * (std::bit_width(kTreeEntriesMax) + 1);  // with whole keys
constexpr int kVersionUnits = 2;              // that are prefetched of a version
constexpr std::size_t kPrefetchEntries = 8;  // versions ahead of the one that a range copies

std::uint64_t word_in(std::span<const std::byte> memory, std::uint64_t word, std::memory_order order) {
  return reinterpret_cast<const SharedCell<std::uint64_t>*>(memory.data())[word].load(order);
}

}  // namespace

std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) ++end.back();
  return end;
}

ViewReader::ViewReader(std::span<const std::byte> memory, std::uint64_t log_entries)
    : source_(memory, first_node_word(log_entries)), log_entries_(log_entries) {}

absl::StatusOr<ViewReader> ViewReader::open(std::span<const std::byte> memory) {
  const auto header = [&](std::uint64_t word) { return word_in(memory, word, std::memory_order_relaxed); };
  if (memory.size() < kGenerationBytesMin || memory.size() > kGenerationBytesMax ||
      word_in(memory, kMagicWord, std::memory_order_acquire) != kGenerationMagic) {
    return absl::InvalidArgumentError("the memory is no generation of a view");
  }
  if (header(kLayoutWord) != kGenerationLayout) {
    return absl::InvalidArgumentError(absl::StrCat("the generation has layout ", header(kLayoutWord),
                                                   ", this program reads layout ", kGenerationLayout));
  }
  const std::uint64_t entries = header(kLogEntriesWord);
  if (header(kBytesWord) != memory.size() || entries != log_entries_in(memory.size())) {
    return absl::InvalidArgumentError(absl::StrCat("the generation says that it has ", header(kBytesWord),
                                                   " bytes and a log of ", entries, " changes; it has ",
                                                   memory.size(), " bytes"));
  }
  ViewReader reader(memory, entries);
  reader.seed_ = header(kSeedWord);
  reader.identity_ = header(kIdentityWord);
  reader.generation_ = header(kGenerationWord);
  if (reader.source_.load(kNumberWord) == 0) return absl::UnavailableError("the generation has no root yet");
  return reader;
}

// ---- Roots ---------------------------------------------------------------------------------------------------------

ReadOutcome ViewReader::begin() {
  const std::uint64_t number = source_.load(kNumberWord);
  if (number == number_ && whole_root_) return verdict(false);
  if (number < number_ || number == 0) return damaged_or_gone();
  number_ = number;
  copy_root();
  // The cell of a root is written again by a later one, after the number of the root before that.
  const bool torn = source_.load(kNumberWord) - number >= kRootCells - 1 && INGOT_RULE("cells-checked");
  whole_root_ = !torn && root_.table_bits <= kTableBitsMax && root_.tree_levels <= kTreeLevelsMax &&
                (root_.tree == 0) == (root_.tree_levels == 0) && root_.log_end - root_.log_begin <= log_entries_ &&
                source_.holds(root_.table, kUnitWords << root_.table_bits);
  if (whole_root_ || torn) return verdict(torn);
  return damaged_or_gone();
}

void ViewReader::copy_root() {
  std::uint64_t words[kRootWords];
  for (std::uint64_t i = 0; i < kRootWords; ++i) words[i] = source_.load(root_cell_word(number_) + i);
  root_ = {.revision = static_cast<ViewRevision>(words[0]),
           .table = low_half(words[1]),
           .table_bits = static_cast<std::uint8_t>(high_half(words[1])),
           .tree = low_half(words[2]),
           .tree_levels = static_cast<std::uint8_t>(high_half(words[2])),
           .keys = words[3],
           .log_begin = words[4],
           .log_end = words[5],
           .log_floor = static_cast<ViewRevision>(words[6])};
}

ReadOutcome ViewReader::damaged_or_gone() const {
  return source_.load(kGoneWord) != 0 ? ReadOutcome::kGone : ReadOutcome::kDamaged;
}

// What was copied is older than the load of the mark: each load before it has the order acquire.
ReadOutcome ViewReader::verdict(bool astray) const {
  const std::uint64_t mark = source_.load(kMarkWord);
  if (source_.load(kGoneWord) != 0) return ReadOutcome::kGone;
  if (mark > number_ && INGOT_RULE("mark-checked")) return ReadOutcome::kOvertaken;
  if (!astray) return ReadOutcome::kOk;
  // A way may also have become too long since the root was published.
  return source_.load(kNumberWord) != number_ ? ReadOutcome::kOvertaken : ReadOutcome::kDamaged;
}

ReadOutcome ViewReader::verdict(bool astray, ViewAnswer& answer) const {
  const ReadOutcome outcome = verdict(astray);
  if (outcome != ReadOutcome::kOk) answer.clear();
  return outcome;
}

// ---- One key -------------------------------------------------------------------------------------------------------

ReadOutcome ViewReader::get(std::string_view key, ViewAnswer& answer) {
  source_.begin(kGetWordsMax + words_for(key.size()) + words_for(kViewBytesMax));
  const std::uint32_t tag = tag_of(key_hash(key, seed_));
  const std::size_t before = answer.starts_.size();
  const Found found =
      find(tag, key.size(), std::nullopt, answer, [&](const ViewEntry& entry) { return entry.key == key; });
  if (found == Found::kYes && answer[before].deleted) answer.take_back();
  return verdict(found == Found::kAstray, answer);
}

template <typename Fits>
ViewReader::Found ViewReader::find(std::uint32_t tag, std::size_t key_bytes, std::optional<ViewRevision> revision,
                                   ViewAnswer& answer, const Fits& fits) {
  const std::uint64_t buckets = std::uint64_t{1} << root_.table_bits;
  NodeRef bucket = root_.table + static_cast<NodeRef>(tag & (buckets - 1));
  while (bucket != 0) {
    if (!source_.take(kUnitWords) || !source_.holds(bucket, kUnitWords)) return Found::kAstray;
    NodeRef versions[kBucketEntries];
    NodeRef next = 0;
    for (std::uint32_t fit = look_into(bucket, tag, versions, next); fit != 0; fit &= fit - 1) {
      NodeRef version = versions[std::countr_zero(fit)];
      if (version == 0) continue;
      source_.prefetch(version, kVersionUnits);
      const Found at = at_root(version);
      if (at == Found::kAstray) return at;
      if (at == Found::kNo) continue;
      if (revision && static_cast<ViewRevision>(source_.load(word_of(version) + 2)) != *revision) continue;
      if (key_bytes != 0 && low_half(source_.load(word_of(version) + 1)) != key_bytes) continue;
      if (!copy(version, answer)) return Found::kAstray;
      if (fits(answer[answer.size() - 1])) return Found::kYes;
      answer.take_back();
    }
    bucket = next;
  }
  return Found::kNo;
}

// A bit for each entry with this tag, by no branch: where in its bucket a key is, no processor foresees.
std::uint32_t ViewReader::look_into(NodeRef bucket, std::uint32_t tag, NodeRef (&versions)[kBucketEntries],
                                    NodeRef& next) const {
  const std::uint64_t first = word_of(bucket);
  std::uint32_t fit = 0;
#pragma GCC unroll 7
  for (std::uint64_t i = 0; i < kBucketEntries; ++i) {
    const std::uint64_t word = source_.load(first + i);
    versions[i] = low_half(word);
    fit |= std::uint32_t{high_half(word) == tag} << i;
  }
  next = low_half(source_.load(first + kBucketEntries));
  return fit;
}

// Versions that are newer than the root lead to older ones. What is behind the first one that is not may be used again.
ViewReader::Found ViewReader::at_root(NodeRef& version) {
  while (version != 0) {
    if (!source_.take(3) || !source_.holds(version, kVersionHeadWords)) return Found::kAstray;
    const std::uint64_t first = source_.load(word_of(version));
    if (!is_kind(first, NodeKind::kVersion)) return Found::kAstray;
    const auto revision = static_cast<ViewRevision>(source_.load(word_of(version) + 2));
    if (revision <= root_.revision || !INGOT_RULE("revisions-compared")) return Found::kYes;
    version = low_half(first);
  }
  return Found::kNo;
}

// Whole units, which belong to the node.
bool ViewReader::copy(NodeRef version, ViewAnswer& answer) {
  if (!source_.holds(version, kUnitWords)) return false;
  const std::uint64_t first = word_of(version);
  const std::uint64_t lengths = source_.load(first + 1);
  if (low_half(lengths) > kViewBytesMax || high_half(lengths) > kViewBytesMax) return false;
  const std::uint64_t words =
      units_for(version_words(low_half(lengths), high_half(lengths))) * kUnitWords;
  if (!source_.take(words) || !source_.holds(version, words)) return false;
  std::uint64_t* const to = answer.room(words);
  for (std::uint64_t i = 0; i < words; i += kUnitWords) source_.copy_unit(first + i, to + i);
  to[1] = lengths;  // those that have bounds
  answer.add(words);
  return is_kind(to[0], NodeKind::kVersion);
}

// ---- Ranges --------------------------------------------------------------------------------------------------------

// Each word that a root reaches is copied once, and compared once with the range's end. The way to its begin compares
// that with some keys of each level.
ReadOutcome ViewReader::range(const ViewRange& range, ViewAnswer& answer) {
  answer.clear();
  source_.begin(kGetWordsMax + 2 * source_.end() + kSeekCompares * words_for(range.begin.size()));
  const bool whole = root_.tree == 0 || copy_range(range, answer);
  return verdict(!whole, answer);
}

bool ViewReader::copy_range(const ViewRange& range, ViewAnswer& answer) {
  TreeWalk walk(source_, root_);
  if (!walk.seek(range.begin)) return false;
  for (bool end = false; !end;) {
    const auto stop = range.end.empty() ? walk.count() : walk.lower_bound(range.end);
    if (!stop) return false;
    for (std::size_t i = walk.at(); i < *stop; ++i) {
      if (answer.size() >= range.limit || answer.bytes() >= range.bytes_max) {
        answer.more_ = true;
        return true;
      }
      if (i == walk.at()) {
        for (std::size_t ahead = i; ahead < std::min(*stop, i + kPrefetchEntries); ++ahead) {
          source_.prefetch(walk.version(ahead), kVersionUnits);
        }
      }
      if (i + kPrefetchEntries < *stop) source_.prefetch(walk.version(i + kPrefetchEntries), kVersionUnits);
      const NodeRef version = walk.version(i);
      if (!copy(version, answer)) return false;
    }
    if (*stop < walk.count() || walk.at() >= walk.count()) return true;
    if (!walk.next_leaf(end)) return false;
  }
  return true;
}

ReadOutcome ViewReader::count(std::string_view begin, std::string_view end, std::uint64_t& keys) {
  source_.begin(kGetWordsMax + kSeekCompares * (words_for(begin.size()) + words_for(end.size())));
  std::uint64_t below_begin = 0;
  std::uint64_t below_end = root_.keys;
  TreeWalk walk(source_, root_);
  const bool whole = root_.tree == 0 || (walk.seek_ranked(begin, below_begin) &&
                                         (end.empty() || walk.seek_ranked(end, below_end)));
  keys = below_end > below_begin ? below_end - below_begin : 0;
  return verdict(!whole);
}

// ---- Changes -------------------------------------------------------------------------------------------------------

ReadOutcome ViewReader::changes(const ViewChanges& changes, ViewAnswer& answer) {
  answer.clear();
  if (changes.since < root_.log_floor) {
    const ReadOutcome outcome = verdict(false, answer);
    answer.clear();
    return outcome == ReadOutcome::kOk ? ReadOutcome::kTooOld : outcome;
  }
  source_.begin(source_.end() + kGetWordsMax + (root_.log_end - root_.log_begin) * kChangeWordsMax);
  std::uint64_t position = std::max(changes.position, root_.log_begin);
  bool too_old = changes.position == 0 && first_change(changes.since, position) != Found::kYes;
  bool astray = false;
  for (; position < root_.log_end && !too_old && !astray; ++position) {
    if (answer.size() >= changes.limit || answer.bytes() >= changes.bytes_max) {
      answer.more_ = true;
      answer.position_ = position;
      break;
    }
    // The hash first: if it is a later change's, so is the revision (ViewLog::append).
    const std::uint64_t hash = source_.load(log_word(position) + 1);
    const auto revision = static_cast<ViewRevision>(source_.load(log_word(position)));
    too_old = revision > root_.revision;
    if (too_old || revision <= changes.since) continue;
    const auto newest = [&](const ViewEntry& entry) {
      return entry.revision == revision && key_hash(entry.key, seed_) == hash;
    };
    astray = !source_.take(2) || find(tag_of(hash), 0, revision, answer, newest) == Found::kAstray;
  }
  const ReadOutcome outcome = verdict(astray, answer);
  if (outcome != ReadOutcome::kOk || !too_old) return outcome;
  answer.clear();
  return ReadOutcome::kTooOld;
}

// Revisions ascend from log_begin to log_end; those that are overwritten meanwhile are above the root's.
ViewReader::Found ViewReader::first_change(ViewRevision since, std::uint64_t& position) {
  std::uint64_t low = root_.log_begin;
  for (std::uint64_t high = root_.log_end; low < high;) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto revision = static_cast<ViewRevision>(source_.load(log_word(middle)));
    if (revision > root_.revision) return Found::kNo;
    if (revision <= since) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  position = low;
  return Found::kYes;
}

}  // namespace ingot::replication_view_generation
