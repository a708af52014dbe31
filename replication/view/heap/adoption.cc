#include "replication/view/heap/adoption.h"

#include <array>
#include <atomic>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/rule.h"
#include "core/shared_cell.h"
#include "replication/view/heap/check.h"
#include "replication/view/heap/extents.h"
#include "replication/view/heap/retire.h"
#include "replication/view/heap/words.h"

namespace ingot::inline replication_view_heap {
namespace {

using IdentityWords = std::array<std::uint64_t, kIdentityWords>;

IdentityWords identity_words(const Chain& chain, const HeapIdentity& identity) {
  IdentityWords words{kHeapMagic,     kHeapLayoutVersion | identity.replica << 32, identity.chain_id, chain.size(),
                      extents_in(chain.size()), 0};
  words.back() = check_words(0, std::span(words).first(kIdentityWords - 1));
  return words;
}

absl::Status damaged(const char* what, std::uint64_t offset) {
  HeapDamage damage;
  damage.report(what, offset);
  return damage.status();
}

bool plausible(const RootScalars& root, const Chain& chain) {
  const std::uint64_t queued = root.retire_end - root.retire_begin;
  return root.extents_begun <= extents_in(chain.size()) && root.extents_empty <= root.extents_begun &&
         root.retire_begin <= root.retire_end && queued <= chain.size() / kHeapRefUnit &&
         (root.retire_first != 0 || queued == 0) && (root.retire_first == 0) == (root.retire_last == 0);
}

// Whether words.h changes such words: below the lists' heads only one, and none of the undo log.
bool undoable(std::uint64_t offset, const Chain& chain) {
  if (!chain.holds(offset, 1)) return false;
  return offset == kSplitsBegunOffset || (offset >= kListsOffset && offset < kUndoOffset) || offset >= kTableOffset;
}

// Counts the entries of that tag. An entry is whole once its place is there, so one with a place of the tag must check.
// One that checks although its place has another tag was about to be stored, or has a flipped bit: to put its old value
// back is right either way. An entry of a tag that is a multiple of 2^31 older is taken for a damaged one: with 4,096
// entries that is less likely than 2^-18 at a kill, and costs a start from a peer.
absl::StatusOr<std::size_t> undo_entries(const Chain& chain, std::uint64_t tag) {
  std::size_t entries = 0;
  for (std::size_t i = 0; i < kUndoEntriesMax; ++i) {
    const std::uint64_t at = undo_entry(i);
    const std::uint64_t place = chain.load(at);
    const std::uint64_t offset = (place & kPlaceMask) * kWordBytes;
    const bool has_tag = place >> kPlaceBits == undo_place(0, tag) >> kPlaceBits;
    const bool checks = chain.load(at + 16) == undo_check(tag, undo_place(offset, tag), chain.load(at + 8));
    if (has_tag && (!checks || i > entries || !undoable(offset, chain))) {
      return damaged("an entry of the undo log", at);
    }
    if (checks && i == entries && undoable(offset, chain)) ++entries;
  }
  return entries;
}

// What an adopter has read and checked, before it writes anything.
struct Adoption {
  Chain chain;
  HeapRoot root;
  std::uint64_t tag = 0;          // the undo tag
  std::uint64_t incarnation = 0;  // the former one's; odd: it died while it put words back
  std::size_t entries = 0;        // to be put back

  absl::Status read();
  Adopted run();
  void put_back();
};

void Adoption::put_back() {
  for (std::size_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = undo_entry(INGOT_RULE("last-first") ? entries - 1 - i : i);
    chain.store((chain.load(entry) & kPlaceMask) * kWordBytes, chain.load(entry + 8));
  }
}

absl::Status Adoption::read() {
  const auto number = read_counter(chain, kNumberOffset);
  if (!number) return damaged("the root number", kNumberOffset);
  if (*number == 0) return absl::NotFoundError("no root was published in this memory yet");
  const auto found = RootCells(chain).read(*number);
  if (!found || !plausible(found->heap, chain)) {
    return damaged("the root", kRootCellsOffset + *number % 2 * kRootCellBytes);
  }
  root = *found;
  const auto undo_tag = read_counter(chain, kUndoTagOffset);
  if (!undo_tag || *undo_tag < root.heap.tag) return damaged("the undo tag", kUndoTagOffset);
  tag = *undo_tag;
  const auto before = read_counter(chain, kIncarnationOffset);
  if (!before || *before < root.heap.incarnation) return damaged("the incarnation", kIncarnationOffset);
  incarnation = *before;
  if (!read_counter(chain, kMarkOffset)) return damaged("the mark", kMarkOffset);
  if (tag == root.heap.tag) return absl::OkStatus();
  const auto counted = undo_entries(chain, tag);
  if (!counted.ok()) return counted.status();
  entries = *counted;
  return absl::OkStatus();
}

Adopted Adoption::run() {
  // Readers wait while it is odd. The fence: none sees a word that was put back and not the odd incarnation.
  const std::uint64_t odd = incarnation | 1;
  if (INGOT_RULE("incarnation-odd")) {
    chain.store_release(kIncarnationOffset, checked_word(kIncarnationOffset, odd));
    if (INGOT_RULE("odd-fence")) store_store_fence();
  }
  put_back();
  // Release: pairs with HeapReader::begin. A reader that begins now sees all words put back.
  const std::uint64_t even = INGOT_RULE("incarnation-new") ? odd + 1 : incarnation;
  chain.store(kIncarnationOffset, checked_word(kIncarnationOffset, even),
              INGOT_RULE("incarnation-release") ? std::memory_order_release : std::memory_order_relaxed);
  return {root, INGOT_RULE("tags-are-new") ? tag : root.heap.tag, even, entries};
}

}  // namespace

absl::Status check_identity(const Chain& chain, const HeapIdentity& identity) {
  if (!chain.holds(0, kTableOffset / kWordBytes) || extents_in(chain.size()) == 0) {
    return damaged("the memory is too small for a store", chain.size());
  }
  IdentityWords words;
  chain.load_words(kIdentityOffset, words);
  if (words[0] == 0) return absl::NotFoundError("nothing was stored in this memory yet");
  const IdentityWords expected = identity_words(chain, identity);
  if (words == expected) return absl::OkStatus();
  if (words[0] == kHeapMagic && words.back() != check_words(0, std::span(words).first(kIdentityWords - 1))) {
    return damaged("the identity", kIdentityOffset);
  }
  return absl::FailedPreconditionError(absl::StrCat("this memory is another store's, or another layout's: replica ",
                                                    words[1] >> 32, ", chain ", words[2], ", layout ",
                                                    words[1] & 0xffffffff));
}

absl::StatusOr<Adopted> create_chain(Chain chain, const HeapIdentity& identity) {
  if (extents_in(chain.size()) == 0 || chain.size() > kHeapBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a store has ", first_extent_offset(1) + kExtentBytes, " to ", kHeapBytesMax, " bytes of memory"));
  }
  const IdentityWords words = identity_words(chain, identity);
  for (std::size_t i = kIdentityWords; i-- > 1;) chain.store(kIdentityOffset + i * kWordBytes, words[i]);
  chain.store_release(kIdentityOffset, words[0]);
  constexpr std::uint64_t kFirst = 2;
  chain.store(kIncarnationOffset, checked_word(kIncarnationOffset, kFirst), std::memory_order_release);
  HeapRoot root;
  root.heap.number = 1;
  root.heap.tag = 1;
  root.heap.incarnation = kFirst;
  chain.store_release(kUndoTagOffset, checked_word(kUndoTagOffset, 1));
  RootCells(chain).publish(root);
  return Adopted{root, 1, kFirst, 0};
}

absl::StatusOr<Adopted> adopt_chain(Chain chain, const HeapIdentity& identity) {
  if (auto status = check_identity(chain, identity); !status.ok()) return status;
  Adoption adoption{.chain = chain, .root = {}};
  if (auto status = adoption.read(); !status.ok()) return status;
  return adoption.run();
}

}  // namespace ingot::replication_view_heap
