#include "replication/view/generation/nodes.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/rule.h"

namespace ingot::inline replication_view_generation {

namespace {

constexpr std::uint64_t kHighWaterUnits = 4096;  // readers are told of so many more units at a time

}  // namespace

Nodes::Nodes(std::span<std::byte> memory, std::uint64_t first_word)
    : memory_(memory),
      space_(static_cast<NodeRef>(first_word / kUnitWords), memory.size() / kUnitBytes) {}

std::string_view Nodes::key_of(NodeRef ref) const {
  const std::uint64_t* const node = at(ref);
  const std::uint64_t head = is_kind(node[0], NodeKind::kVersion) ? kVersionHeadWords : kSeparatorHeadWords;
  return {reinterpret_cast<const char*>(node + head), low_half(node[1])};
}

NodeRef Nodes::allocate(std::uint64_t words) { return told(space_.allocate(units_for(words))); }

NodeRef Nodes::try_allocate(std::uint64_t words) { return told(space_.try_allocate(units_for(words))); }

NodeRef Nodes::add(std::span<const std::uint64_t> words) {
  const NodeRef ref = allocate(words.size());
  if (ref == 0) return 0;
  made_.insert(ref);
  write(ref, words);
  return ref;
}

void Nodes::drop(NodeRef ref, std::uint64_t words) {
  if (made_.erase(ref) > 0) {
    space_.free(ref, units_for(words));
  } else {
    retire(ref, words);
  }
}

void Nodes::write(NodeRef ref, std::span<const std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) store(word_of(ref) + i, words[i]);
}

// Raises the high water before anything leads to the node: what does is stored with release, or published later.
NodeRef Nodes::told(NodeRef ref) {
  if (space_.high_water() <= high_water_) return ref;
  high_water_ = std::min<std::uint64_t>(space_.high_water() + kHighWaterUnits, memory_.size() / kUnitBytes);
  store(kHighWaterWord, high_water_);
  return ref;
}

void Nodes::retire(NodeRef ref, std::uint64_t words) {
  const std::uint64_t units = units_for(words);
  if (!any_root_ || !INGOT_RULE("retired-waits")) return space_.free(ref, units);
  current_.blocks.push_back({ref, static_cast<std::uint32_t>(units)});
  retired_units_ += units;
}

void Nodes::retire_tombstone(const Tombstone& tombstone) {
  current_.tombstones.push_back(tombstone);
}

void Nodes::published(std::uint64_t number, std::uint64_t now_ms) {
  any_root_ = true;
  made_.clear();
  if (current_.blocks.empty() && current_.tombstones.empty()) return;
  current_.number = number;
  current_.published_ms = now_ms;
  retired_.push_back(std::exchange(current_, {}));
}

std::vector<Tombstone> Nodes::reclaim(std::uint64_t now_ms) {
  std::vector<Tombstone> unlink;
  const std::uint64_t kept = space_.units() / kRetiredShare;
  std::uint64_t rest = retired_units_;
  std::size_t groups = 0;
  for (const Retired& group : retired_) {
    if (rest <= kept || now_ms < group.published_ms + kGraceMs) break;
    for (const Block& block : group.blocks) rest -= block.units;
    mark_ = group.number;
    ++groups;
  }
  if (groups == 0) return unlink;
  // The mark first: a reader that sees any later store sees the mark, too (ViewReader::counts).
  if (INGOT_RULE("mark-first")) store(kMarkWord, mark_);
  if (INGOT_RULE("mark-fence")) store_store_fence();
  for (; groups > 0; --groups) {
    Retired& group = retired_.front();
    for (const Block& block : group.blocks) space_.free(block.ref, block.units);
    unlink.insert(unlink.end(), group.tombstones.begin(), group.tombstones.end());
    retired_.pop_front();
  }
  retired_units_ = rest;
  return unlink;
}

}  // namespace ingot::replication_view_generation
