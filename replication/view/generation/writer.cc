#include "replication/view/generation/writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/rule.h"
#include "replication/view/generation/key_hash.h"

namespace ingot::inline replication_view_generation {
namespace {

constexpr std::uint8_t kTableBitsMin = kSmallNodes ? 0 : 6;

}  // namespace

absl::StatusOr<std::unique_ptr<GenerationWriter>> GenerationWriter::create(std::span<std::byte> memory,
                                                                           const WriterOptions& options) {
  if (memory.size() < kGenerationBytesMin || memory.size() > kGenerationBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a generation has ", kGenerationBytesMin, " to ",
                                                   kGenerationBytesMax, " bytes, not ", memory.size()));
  }
  const std::uint64_t buckets = std::bit_ceil(options.expected_keys / kBucketLoadMax + 1);
  const auto bits = std::max(kTableBitsMin, static_cast<std::uint8_t>(std::countr_zero(buckets)));
  if (bits > kTableBitsMax || (kUnitBytes << bits) > memory.size() / 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.expected_keys, " keys do not fit into ", memory.size(), " bytes"));
  }
  return std::unique_ptr<GenerationWriter>(new GenerationWriter(memory, options, bits));
}

GenerationWriter::GenerationWriter(std::span<std::byte> memory, const WriterOptions& options, std::uint8_t table_bits)
    : bytes_(memory.size()),
      seed_(options.seed),
      nodes_(memory, first_node_word(log_entries_in(bytes_))),
      table_(nodes_, table_bits),
      tree_(nodes_),
      log_(nodes_, log_entries_in(bytes_)) {
  nodes_.store(kLayoutWord, kGenerationLayout);
  nodes_.store(kBytesWord, bytes_);
  nodes_.store(kSeedWord, seed_);
  nodes_.store(kLogEntriesWord, log_entries_in(bytes_));
  nodes_.store(kIdentityWord, options.identity);
  nodes_.store(kGenerationWord, options.number);
  // Release: who finds the magic number finds the rest (ViewReader::open).
  nodes_.store(kMagicWord, kGenerationMagic, std::memory_order_release);
}

void GenerationWriter::mark_gone(std::span<std::byte> memory) {
  reinterpret_cast<SharedCell<std::uint64_t>*>(memory.data())[kGoneWord].store(1, std::memory_order_release);
  store_store_fence();
}

absl::Status GenerationWriter::check(const ViewChange& change) const {
  if (change.key.empty()) return absl::InvalidArgumentError("a change has a key");
  if (change.key.size() > kViewBytesMax || change.value.size() > kViewBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a key and a value have at most ", kViewBytesMax, " bytes"));
  }
  if (change.revision < 1 || (!loading() && change.revision <= published_.revision) ||
      (!loading() && change.revision < applied_revision_)) {
    return absl::InvalidArgumentError(absl::StrCat("revision ", change.revision, " comes after ",
                                                   std::max(applied_revision_, published_.revision)));
  }
  return absl::OkStatus();
}

absl::Status GenerationWriter::no_room() const {
  return absl::ResourceExhaustedError(absl::StrCat("a generation of ", bytes_, " bytes is full, with ", tree_.keys(),
                                                   " keys and ", live_bytes(), " bytes in use"));
}

absl::Status GenerationWriter::apply(const ViewChange& change) {
  if (failed_) return no_room();
  if (auto status = check(change); !status.ok()) return status;
  const std::uint64_t hash = key_hash(change.key, seed_);
  const TableSlot slot = table_.find(tag_of(hash), change.key);
  ViewRevision newest = 0;
  NodeRef previous = slot.version;
  if (slot.version != 0) {
    const std::uint64_t* const version = nodes_.at(slot.version);
    newest = static_cast<ViewRevision>(version[2]);
    if (newest > change.revision) return absl::OkStatus();  // loaded at a later revision
    // No root has that version: the one before it is the new one's. So a way is no longer than there are roots.
    if (loading() || newest > published_.revision) previous = low_half(version[0]);
  }
  const NodeRef version = add_version(change, previous);
  if (version == 0 || !link(hash, slot, version)) failed_ = true;
  if (!failed_ && change.deleted) tree_.erase(change.key);
  if (!failed_ && !change.deleted) tree_.put(version);
  if (space().exhausted()) failed_ = true;
  if (failed_) return no_room();
  applied_revision_ = std::max(applied_revision_, change.revision);
  log(change, hash, version, slot.version != 0 && newest == change.revision);
  if (slot.version != 0) nodes_.retire(slot.version, version_words_at(slot.version));
  return absl::OkStatus();
}

NodeRef GenerationWriter::add_version(const ViewChange& change, NodeRef previous) {
  const std::string_view value = change.deleted ? std::string_view() : change.value;
  const std::uint64_t words = version_words(change.key.size(), value.size());
  const NodeRef ref = nodes_.allocate(words);
  if (ref == 0) return 0;
  const std::uint64_t head[kVersionHeadWords] = {
      previous | (change.deleted ? kDeletedBit : 0) | kind_bits(NodeKind::kVersion),
      two_halves(static_cast<std::uint32_t>(change.key.size()), static_cast<std::uint32_t>(value.size())),
      static_cast<std::uint64_t>(change.revision),
      static_cast<std::uint64_t>(change.deleted ? 0 : change.created),
      static_cast<std::uint64_t>(change.deleted ? 0 : change.version),
      static_cast<std::uint64_t>(change.deleted ? 0 : change.lease)};
  nodes_.write(ref, head);
  std::uint64_t word = word_of(ref) + kVersionHeadWords;
  for (const std::string_view bytes : {change.key, value}) {
    for (std::size_t at = 0; at < bytes.size(); at += kWordBytes) {
      std::uint64_t content = 0;
      std::memcpy(&content, bytes.data() + at, std::min(bytes.size() - at, kWordBytes));
      nodes_.store(word++, content);
    }
  }
  return ref;
}

bool GenerationWriter::link(std::uint64_t hash, const TableSlot& slot, NodeRef version) {
  if (slot.version != 0) {
    table_.replace(slot, tag_of(hash), version);
    return true;
  }
  table_.grow_if_crowded();
  return table_.insert(tag_of(hash), version);
}

// A key that changes again within a revision has its entry. What is loaded has none.
void GenerationWriter::log(const ViewChange& change, std::uint64_t hash, NodeRef version, bool repeated) {
  if (!loading() && !repeated) log_.append(change.revision, hash);
  if (!change.deleted) return;
  const std::uint64_t units = units_for(version_words_at(version));
  tombstones_.push_back({hash, version, change.revision, log_.end(), units});
  tombstone_units_ += units;
}

std::uint64_t GenerationWriter::version_words_at(NodeRef version) const {
  const std::uint64_t lengths = nodes_.at(version)[1];
  return version_words(low_half(lengths), high_half(lengths));
}

absl::Status GenerationWriter::publish(ViewRevision revision, std::uint64_t now_ms) {
  if (failed_) return no_room();
  if (revision < std::max<ViewRevision>({applied_revision_, published_.revision, 1})) {
    return absl::InvalidArgumentError(absl::StrCat("a root at revision ", revision, " does not have all of ",
                                                   std::max(applied_revision_, published_.revision)));
  }
  if (loading()) log_.start(revision);
  forget_tombstones();
  published_ = {revision,      table_.at(),  table_.bits(), tree_.root(), tree_.levels(),
                tree_.keys(), log_.begin(), log_.end(),    log_.floor()};
  store_root();
  nodes_.published(number_, now_ms);
  reclaim(now_ms);
  return absl::OkStatus();
}

void GenerationWriter::store_root() {
  const RootFields& root = published_;
  const std::uint64_t words[kRootWords] = {static_cast<std::uint64_t>(root.revision),
                                           two_halves(root.table, root.table_bits),
                                           two_halves(root.tree, root.tree_levels),
                                           root.keys,
                                           root.log_begin,
                                           root.log_end,
                                           static_cast<std::uint64_t>(root.log_floor),
                                           0};
  ++number_;
  // The cell is another root's: a reader that sees these words sees the number of the root before this one, too
  // (ViewReader::begin).
  if (INGOT_RULE("cell-fence")) store_store_fence();
  for (std::uint64_t i = 0; i < kRootWords; ++i) nodes_.store(root_cell_word(number_) + i, words[i]);
  // Release: with the number, a reader sees the root and all that it reaches (ViewReader::begin).
  nodes_.store(kNumberWord, number_,
               INGOT_RULE("number-release") ? std::memory_order_release : std::memory_order_relaxed);
}

// Those that the log has forgotten; and if there are too many, the log forgets more. A version that was superseded
// since was retired by its successor.
void GenerationWriter::forget_tombstones() {
  const std::uint64_t kept = space().units() / kTombstoneShare;
  while (!tombstones_.empty()) {
    const Tombstone& oldest = tombstones_.front();
    if (oldest.log_end > log_.begin() && tombstone_units_ <= kept && INGOT_RULE("log-forgets")) return;
    if (INGOT_RULE("log-forgets")) log_.forget(std::max(log_.begin(), oldest.log_end));
    tombstone_units_ -= oldest.units;
    nodes_.retire_tombstone(oldest);
    tombstones_.pop_front();
  }
}

// A deleted key leaves the hash index when no root needs its deletion: none is older than the deletion, and no log of
// one has it. The version may be another key's by now, so nothing of it is read before its word is found.
void GenerationWriter::reclaim(std::uint64_t now_ms) {
  for (const Tombstone& tombstone : nodes_.reclaim(now_ms)) {
    const TableSlot slot = table_.find_version(tag_of(tombstone.hash), tombstone.version);
    if (slot.version == 0) continue;
    const std::uint64_t* const version = nodes_.at(slot.version);
    const bool same = (version[0] & kDeletedBit) != 0 && static_cast<ViewRevision>(version[2]) == tombstone.revision;
    if (!same) continue;
    table_.erase(slot);
    nodes_.retire(slot.version, tombstone.units * kUnitWords);
  }
}

}  // namespace ingot::replication_view_generation
