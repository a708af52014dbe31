#include "replication/view/heap/extents.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/rule.h"
#include "replication/view/heap/check.h"

namespace ingot::inline replication_view_heap {

Extents::Extents(Chain chain, Words& words, RootScalars& scalars, HeapDamage& damage)
    : chain_(chain),
      words_(words),
      scalars_(scalars),
      damage_(damage),
      extents_(extents_in(chain.size())),
      first_offset_(first_extent_offset(extents_)),
      lists_(extents_, kUnknown) {}

std::optional<HeapRef> Extents::allocate(std::size_t bytes) {
  INGOT_CHECK(bytes <= kHeapNodeBytesMax, "a larger value is a list of pieces");
  if (damage_.found()) return std::nullopt;
  const std::size_t node_class = class_of(bytes);
  const auto extent = extent_with_room(node_class);
  if (!extent) return std::nullopt;
  const auto slot = free_slot(node_class, *extent);
  const auto used = checked(used_word(*extent), "the number of nodes of an extent");
  if (!slot || !used) return std::nullopt;
  const std::uint64_t word = bitmap_word(*extent, *slot / 64);
  const std::uint64_t with_node = chain_.load(word) | std::uint64_t{1} << *slot % 64;
  if (INGOT_RULE("bitmaps-undone")) {
    words_.set(word, with_node);
  } else {
    chain_.store_release(word, with_node);
  }
  words_.set_content(used_word(*extent), *used + 1);
  if (*used + 1 == nodes_in_extent(node_class) && !unlink(node_class, *extent)) return std::nullopt;
  scalars_.bytes_used += kClassBytes[node_class];
  return ref_at(offset(*extent) + *slot * kClassBytes[node_class]);
}

void Extents::free(HeapRef ref) {
  if (const auto place = place_of(ref)) free(*place);
}

void Extents::free(const NodePlace& place) {
  const auto used = checked(used_word(place.extent), "the number of nodes of an extent");
  if (!used) return;
  if (*used == 0) return damage_.report("an extent without nodes has one", used_word(place.extent));
  const std::uint64_t word = bitmap_word(place.extent, place.slot / 64);
  words_.set(word, chain_.load(word) & ~(std::uint64_t{1} << place.slot % 64));
  words_.set_content(used_word(place.extent), *used - 1);
  scalars_.bytes_used -= kClassBytes[place.node_class];
  Hint& hint = hints_[place.node_class];
  if (hint.extent == place.extent) hint.word = std::min(hint.word, place.slot / 64);
  if (*used == nodes_in_extent(place.node_class)) {
    push(place.node_class, place.extent, {.node_class = static_cast<std::uint8_t>(place.node_class)});
  } else if (*used == 1) {
    give_up(place.extent, place.node_class);
  }
}

// An extent without nodes becomes an empty one, unless it is its list's only one.
void Extents::give_up(std::uint64_t extent, std::size_t node_class) {
  const auto found = links(extent);
  if (!found || (found->next == 0 && found->previous == 0)) return;
  if (!unlink(node_class, extent) || !push(kEmptyList, extent, {.state = ExtentState::kEmpty})) return;
  ++scalars_.extents_empty;
}

std::optional<NodePlace> Extents::place_of(HeapRef ref) {
  if (damage_.found()) return std::nullopt;
  const std::uint64_t at = offset_of(ref);
  const std::uint64_t extent = (at - first_offset_) / kExtentBytes;
  if (at < first_offset_ || extent >= scalars_.extents_begun) {
    damage_.report("a reference leads out of the extents", at);
    return std::nullopt;
  }
  const auto list = list_of(extent);
  if (!list) return std::nullopt;
  if (*list != kEmptyList) {
    const std::uint64_t within = at - offset(extent);
    const NodePlace place{extent, slot_at(*list, within), *list};
    if (place.slot * kClassBytes[*list] == within && place.slot < nodes_in_extent(*list) &&
        (chain_.load(bitmap_word(extent, place.slot / 64)) >> place.slot % 64 & 1) != 0) {
      return place;
    }
  }
  damage_.report("a reference leads to no node", at);
  return std::nullopt;
}

// ---- Extents -------------------------------------------------------------------------------------------------------

std::optional<std::uint64_t> Extents::checked(std::uint64_t offset, const char* what) {
  const auto content = content_of(offset, chain_.load(offset));
  if (!content) damage_.report(what, offset);
  return content;
}

std::optional<ExtentLinks> Extents::links(std::uint64_t extent) {
  const auto content = checked(links_word(extent), "the links of an extent");
  if (!content) return std::nullopt;
  const ExtentLinks links = ExtentLinks::from(*content);
  const bool known = links.state == ExtentState::kClass || links.state == ExtentState::kEmpty;
  if (known && links.node_class < kClasses && links.next <= scalars_.extents_begun &&
      links.previous <= scalars_.extents_begun) {
    return links;
  }
  damage_.report("the links of an extent", links_word(extent));
  return std::nullopt;
}

// The class of an extent, or kEmptyList.
std::optional<std::size_t> Extents::list_of(std::uint64_t extent) {
  if (lists_[extent] != kUnknown) return lists_[extent];
  const auto found = links(extent);
  if (!found) return std::nullopt;
  const bool empty = found->state == ExtentState::kEmpty;
  if (!fits_bitmap(extent, empty ? 0 : nodes_in_extent(found->node_class))) return std::nullopt;
  lists_[extent] = empty ? kEmptyList : found->node_class;
  return lists_[extent];
}

// A flipped bit of a bitmap makes its extent unusable, so that no memory is used twice.
bool Extents::fits_bitmap(std::uint64_t extent, std::size_t nodes) {
  const auto used = checked(used_word(extent), "the number of nodes of an extent");
  if (!used) return false;
  std::uint64_t counted = 0;
  for (std::size_t word = 0; word < kBitmapWords; ++word) {
    counted += static_cast<std::uint64_t>(std::popcount(chain_.load(bitmap_word(extent, word))));
  }
  if (counted == *used && counted <= nodes) return true;
  damage_.report("the bitmap of an extent", bitmap_word(extent, 0));
  return false;
}

std::optional<std::uint64_t> Extents::first_of(std::size_t list) {
  const auto first = checked(list_word(list), "the head of a list of extents");
  if (!first) return std::nullopt;
  if (*first <= scalars_.extents_begun) return first;
  damage_.report("the head of a list of extents", list_word(list));
  return std::nullopt;
}

// The first extent of the class's list, which gets one if it is empty.
std::optional<std::uint64_t> Extents::extent_with_room(std::size_t node_class) {
  const auto first = first_of(node_class);
  if (!first) return std::nullopt;
  if (*first != 0) {
    const auto list = list_of(*first - 1);
    if (!list) return std::nullopt;
    if (*list == node_class) return *first - 1;
    damage_.report("an extent in another class's list", links_word(*first - 1));
    return std::nullopt;
  }
  const auto extent = take_unused();
  if (!extent || !push(node_class, *extent, {.node_class = static_cast<std::uint8_t>(node_class)})) return std::nullopt;
  return extent;
}

std::optional<std::uint64_t> Extents::take_unused() {
  if (scalars_.extents_empty == 0) {
    if (scalars_.extents_begun == extents_) return std::nullopt;
    const std::uint64_t extent = scalars_.extents_begun;
    if (!fits_bitmap(extent, 0)) return std::nullopt;
    ++scalars_.extents_begun;
    return extent;
  }
  const auto first = first_of(kEmptyList);
  if (!first) return std::nullopt;
  if (*first == 0 || list_of(*first - 1) != kEmptyList) {
    damage_.report("the list of empty extents", list_word(kEmptyList));
    return std::nullopt;
  }
  if (!unlink(kEmptyList, *first - 1)) return std::nullopt;
  --scalars_.extents_empty;
  return *first - 1;
}

// ---- Lists ---------------------------------------------------------------------------------------------------------

bool Extents::push(std::size_t list, std::uint64_t extent, ExtentLinks links) {
  const auto first = first_of(list);
  if (!first) return false;
  if (*first != 0) {
    auto behind = this->links(*first - 1);
    if (!behind) return false;
    behind->previous = static_cast<std::uint32_t>(extent + 1);
    set_links(*first - 1, *behind);
  }
  links.next = static_cast<std::uint32_t>(*first);
  set_links(extent, links);
  words_.set_content(list_word(list), extent + 1);
  lists_[extent] = static_cast<std::uint8_t>(list);
  return true;
}

bool Extents::unlink(std::size_t list, std::uint64_t extent) {
  auto mine = links(extent);
  if (!mine || !relink(list, *mine, extent)) return false;
  mine->next = mine->previous = 0;
  set_links(extent, *mine);
  return true;
}

// Links an extent's neighbours with one another.
bool Extents::relink(std::size_t list, const ExtentLinks& mine, std::uint64_t extent) {
  const auto first = first_of(list);
  auto before = mine.previous == 0 ? ExtentLinks{} : links(mine.previous - 1);
  auto behind = mine.next == 0 ? ExtentLinks{} : links(mine.next - 1);
  if (!first || !before || !behind) return false;
  const std::uint64_t forward = mine.previous == 0 ? *first : before->next;
  if (forward != extent + 1 || (mine.next != 0 && behind->previous != extent + 1)) {
    damage_.report("an extent's neighbours in its list do not know it", links_word(extent));
    return false;
  }
  before->next = mine.next;
  behind->previous = mine.previous;
  if (mine.previous == 0) {
    words_.set_content(list_word(list), mine.next);
  } else {
    set_links(mine.previous - 1, *before);
  }
  if (mine.next != 0) set_links(mine.next - 1, *behind);
  return true;
}

std::optional<std::size_t> Extents::free_slot(std::size_t node_class, std::uint64_t extent) {
  Hint& hint = hints_[node_class];
  if (hint.extent != extent) hint = {extent, 0};
  for (; hint.word < kBitmapWords; ++hint.word) {
    const std::size_t slot =
        hint.word * 64 + static_cast<std::size_t>(std::countr_one(chain_.load(bitmap_word(extent, hint.word))));
    if (slot < (hint.word + 1) * 64 && slot < nodes_in_extent(node_class)) return slot;
  }
  damage_.report("an extent without room stands in a list", links_word(extent));
  return std::nullopt;
}

}  // namespace ingot::replication_view_heap
