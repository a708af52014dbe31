#include "replication/view/heap/nodes.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "replication/view/heap/limits.h"

namespace ingot::inline replication_view_heap {

void write_node(Chain& chain, HeapRef ref, NodeKind kind, NodeBirth birth, std::span<const std::uint64_t> content,
                NodeWords words) {
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes> image;
  const std::size_t count = kNodeHeaderWords + content.size();
  INGOT_CHECK(count <= image.size() && words.first + words.count <= content.size());
  image[0] = std::uint64_t{kind.kind} << 32 | std::uint64_t{kind.flags} << 40 | std::uint64_t{kind.depth} << 48;
  image[1] = birth.word();
  std::copy(content.begin(), content.end(), image.begin() + kNodeHeaderWords);
  for (std::size_t word = words.first; word < words.first + words.count; ++word) {
    image[kNodeHeaderWords + word] = checked_word(content_offset(ref, word), content[word]);
  }
  image[0] |= node_check(ref, std::span(image).first(count), words);
  for (std::size_t i = 0; i < count; ++i) chain.store(offset_of(ref) + i * kWordBytes, image[i]);
}

}  // namespace ingot::replication_view_heap
