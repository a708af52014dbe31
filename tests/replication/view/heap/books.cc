#include "tests/replication/view/heap/books.h"

#include <cstdint>
#include <vector>

#include "replication/view/heap/classes.h"

namespace ingot::test {
namespace {

// Each extent that was begun is full or in one list, its class's or that of the empty ones.
std::string check_lists(Heap& heap, const Chain& chain) {
  const std::uint64_t begun = heap.scalars().extents_begun;
  std::vector<int> listed(begun + 1);
  std::uint64_t empty = 0;
  for (std::size_t list = 0; list < kLists; ++list) {
    std::uint64_t before = 0;
    auto at = content_of(list_word(list), chain.load(list_word(list)));
    for (std::uint64_t steps = 0; at && *at != 0; ++steps) {
      if (*at > begun || steps > begun) return "a list leads nowhere";
      const auto links = content_of(links_word(*at - 1), chain.load(links_word(*at - 1)));
      if (!links) return "links are damaged";
      const ExtentLinks found = ExtentLinks::from(*links);
      const bool empties = list == kEmptyList;
      if (found.previous != before) return "a list does not lead back";
      if (found.state != (empties ? ExtentState::kEmpty : ExtentState::kClass)) return "a state is wrong";
      if (!empties && found.node_class != list) return "a class is wrong";
      ++listed[*at];
      empty += empties ? 1 : 0;
      before = *at;
      at = found.next;
    }
    if (!at) return "a list is damaged";
  }
  if (empty != heap.scalars().extents_empty) return "empty extents are miscounted";
  for (std::uint64_t extent = 0; extent < begun; ++extent) {
    const auto links = ExtentLinks::from(*content_of(links_word(extent), chain.load(links_word(extent))));
    const auto used = content_of(used_word(extent), chain.load(used_word(extent)));
    if (!used) return "a number of nodes is damaged";
    const bool full = links.state == ExtentState::kClass && *used == nodes_in_extent(links.node_class);
    if (listed[extent + 1] != (full ? 0 : 1)) return "extent " + std::to_string(extent) + " is lost or listed twice";
  }
  return "";
}

}  // namespace

std::string compare_books(Heap& heap, std::span<const std::byte> memory, Reached reached) {
  Reached retired, handed_back;
  std::uint64_t bytes_retired = 0;
  for (std::size_t i = 0; i < heap.retire_queue().size(); ++i) {
    const auto entry = heap.retire_queue().at(i);
    if (!entry) return "the retire queue is damaged";
    if (entry->kind != kRetiredNode) {
      handed_back.add(entry->ref, "handed back twice");
      continue;
    }
    retired.add(entry->ref, "retired twice");
    const auto place = heap.all_extents().place_of(entry->ref);
    if (!place) return std::string(heap.status().message());
    bytes_retired += kClassBytes[place->node_class];
  }
  for (const std::uint32_t ref : retired.nodes) {
    if (reached.nodes.contains(ref) || handed_back.nodes.contains(ref)) return "retired, and still reached";
  }
  heap.retire_queue().for_each_chunk([&](HeapRef chunk) { reached.add(chunk, "a chunk twice"); });
  for (const std::string& wrong : {reached.wrong, retired.wrong, handed_back.wrong}) {
    if (!wrong.empty()) return wrong;
  }
  reached.nodes.merge(handed_back.nodes);
  std::uint64_t allocated = 0, bytes = 0, leaked = 0;
  heap.all_extents().for_each_node([&](HeapRef ref, std::size_t node_class) {
    ++allocated;
    bytes += kClassBytes[node_class];
    leaked += reached.nodes.contains(ref.value()) || retired.nodes.contains(ref.value()) ? 0 : 1;
  });
  if (leaked > 0) return "nodes leaked: " + std::to_string(leaked);
  if (allocated != reached.nodes.size() + retired.nodes.size()) return "a node is reached that is not allocated";
  const RootScalars& root = heap.published().heap;
  if (bytes != root.bytes_used || bytes_retired != root.bytes_retired) return "bytes are miscounted";
  if (!heap.status().ok()) return std::string(heap.status().message());
  return check_lists(heap, Chain(memory));
}

}  // namespace ingot::test
