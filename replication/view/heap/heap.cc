#include "replication/view/heap/heap.h"

#include <algorithm>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/heap/check.h"

namespace ingot::inline replication_view_heap {

absl::StatusOr<std::unique_ptr<Heap>> Heap::create(std::span<std::byte> memory, const HeapIdentity& identity,
                                                   std::uint64_t now_ms) {
  const Chain chain(memory);
  return begin(chain, create_chain(chain, identity), now_ms);
}

absl::StatusOr<std::unique_ptr<Heap>> Heap::adopt(std::span<std::byte> memory, const HeapIdentity& identity,
                                                  std::uint64_t now_ms) {
  const Chain chain(memory);
  return begin(chain, adopt_chain(chain, identity), now_ms);
}

absl::StatusOr<std::unique_ptr<Heap>> Heap::begin(Chain chain, const absl::StatusOr<Adopted>& adopted,
                                                  std::uint64_t now_ms) {
  if (!adopted.ok()) return adopted.status();
  return std::unique_ptr<Heap>(new Heap(chain, *adopted, now_ms));
}

Heap::Heap(Chain chain, const Adopted& adopted, std::uint64_t now_ms)
    : chain_(chain),
      incarnation_(adopted.incarnation),
      published_(adopted.root),
      next_(adopted.root),
      nodes_(chain, &damage_),
      words_(chain),
      extents_(chain, words_, next_.heap, damage_),
      retired_(chain, extents_, next_.heap, damage_) {
  next_.heap.tag = adopted.tag;
  next_.heap.incarnation = incarnation_;
  ages_.published(published_.heap.number, now_ms);
  begin_batch();
}

void Heap::begin_batch() {
  next_.heap.number = published_.heap.number + 1;
  words_.begin(++next_.heap.tag);
}

std::optional<HeapRef> Heap::allocate(std::size_t bytes) {
  if (damage_.found()) return std::nullopt;
  INGOT_CHECK(!reclaiming_ || !INGOT_RULE("reclaims-alone"), "what a batch frees is allocated again in the next one");
  return extents_.allocate(bytes);
}

bool Heap::read(HeapRef ref, std::span<std::uint64_t> node, NodeWords words) {
  const std::uint64_t first = first_extent_offset(extents_.extents());
  const bool inside = offset_of(ref) >= first && chain_.holds(offset_of(ref), node.size());
  if (inside) chain_.load_words(offset_of(ref), node);
  if (inside && node_fits(ref, node, words)) return true;
  damage_.report("a node", offset_of(ref));
  return false;
}

std::uint64_t Heap::content(std::uint64_t offset) {
  const auto content = content_of(offset, raw(offset));
  if (!content) damage_.report("a word", offset);
  return content.value_or(0);
}

std::uint64_t Heap::raw(std::uint64_t offset) {
  if (offset % kWordBytes == 0 && chain_.holds(offset, 1)) return chain_.load(offset);
  damage_.report("a word outside of the memory", offset);
  return 0;
}

void Heap::retire(HeapRef ref, std::uint16_t kind) {
  if (!INGOT_RULE("retired-waits") && kind == kRetiredNode) return extents_.free(ref);
  const auto place = extents_.place_of(ref);
  if (!place) return;
  if (!retired_.append({ref, kind, batch()}, birth())) {
    INGOT_CHECK(damage_.found(), "callers ask has_room() before a change");
    return;
  }
  if (kind == kRetiredNode) next_.heap.bytes_retired += kClassBytes[place->node_class];
}

bool Heap::publish(std::uint64_t now_ms) {
  if (damage_.found()) return false;
  RootCells(chain_).publish(next_);
  published_ = next_;
  reclaiming_ = false;
  ages_.published(published_.heap.number, now_ms);
  begin_batch();
  return true;
}

// ---- Memory --------------------------------------------------------------------------------------------------------

std::size_t Heap::reclaim(std::uint64_t now_ms, absl::FunctionRef<void(const Retired&)> hand_back) {
  const bool fresh = words_.noted() == 0 && next_.heap.retire_end == published_.heap.retire_end;
  INGOT_CHECK(fresh, "reclaiming begins its batch");
  std::span<const Retired> entries = reclaimable(now_ms);
  if (entries.empty() || damage_.found()) return 0;
  // Before any word of this batch, which are release stores, and before the next batch's fence, behind which memory is
  // used again: a reader that saw either sees the mark.
  if (INGOT_RULE("mark-first")) store_mark(entries.back().batch);
  entries = entries.first(hand_back_all(entries, hand_back));
  reclaiming_ = true;
  free_front(entries);
  if (!INGOT_RULE("mark-first")) store_mark(entries.back().batch);
  return damage_.found() ? 0 : entries.size();
}

// The entries at the queue's front that may be reclaimed now. Their batches ascend.
std::span<const Retired> Heap::reclaimable(std::uint64_t now_ms) {
  std::uint64_t bound = std::min(published_.heap.number, ages_.older_than(kRetiredMs, now_ms));
  if (INGOT_RULE("pins-hold")) bound = std::min(bound, pins_.lowest());
  const std::uint64_t most = std::min<std::uint64_t>(retired_.size(), kReclaimedMax);
  std::size_t count = 0;
  for (std::uint64_t before = 0; count < most; ++count) {
    const auto retired = retired_.at(count);
    if (!retired || retired->batch > bound) break;
    if (retired->batch < before) {
      damage_.report("the retire queue is out of order", offset_of(retired->ref));
      break;
    }
    before = retired->batch;
    reclaimed_[count] = *retired;
  }
  return std::span(reclaimed_).first(count);
}

// Hands back those of the users' kinds, as long as there are undo entries to free all. Returns how many can be freed.
std::size_t Heap::hand_back_all(std::span<const Retired> entries, absl::FunctionRef<void(const Retired&)> hand_back) {
  constexpr std::size_t kFreeWords = 8;  // used and bitmap, and two lists, in each of which an extent has neighbours
  constexpr std::size_t kChunks = 2;     // of the queue itself
  std::size_t count = 0;
  for (; count < entries.size(); ++count) {
    const bool plain = entries[count].kind == kRetiredNode;
    if (words_.left() < (count + 1 + kChunks) * kFreeWords + (plain ? 0 : kHandedBackWordsMax)) break;
    if (!plain) hand_back(entries[count]);
  }
  return count;
}

// The mark never goes back: an adopter may find it ahead of its own queue.
void Heap::store_mark(std::uint64_t batch) {
  const auto before = read_counter(chain_, kMarkOffset);
  if (!before) return damage_.report("the mark", kMarkOffset);
  if (*before < batch) chain_.store(kMarkOffset, checked_word(kMarkOffset, batch));
}

void Heap::free_front(std::span<const Retired> entries) {
  for (const Retired& retired : entries) {
    if (retired.kind == kRetiredNode) {
      const auto place = extents_.place_of(retired.ref);
      if (!place) return;
      next_.heap.bytes_retired -= kClassBytes[place->node_class];
      extents_.free(*place);
    }
    retired_.pop();
    if (damage_.found()) return;
  }
}

}  // namespace ingot::replication_view_heap
