#include "replication/view/heap/words.h"

#include <atomic>

#include "core/shared_cell.h"

namespace ingot::inline replication_view_heap {

void Words::begin(std::uint64_t tag) {
  // A tag as it stands in an entry comes again after 2^31 batches.
  if (undo_place(0, tag) == 0) remembered_.fill(0);
  tag_ = tag;
  count_ = 0;
  // Release: no kill leaves the new tag without the root before it, or without the words that an adopter has put back.
  chain_.store(kUndoTagOffset, checked_word(kUndoTagOffset, tag),
               INGOT_RULE("tag-release") ? std::memory_order_release : std::memory_order_relaxed);
  // No store of this batch is seen, or left by a kill, without the root number and the mark before it.
  if (INGOT_RULE("batch-fence")) store_store_fence();
}

}  // namespace ingot::replication_view_heap
