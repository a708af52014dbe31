#include "replication/view/index/key_node.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "replication/view/index/kinds.h"
#include "replication/view/index/pieces.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr NodeKind kKeyKind{.kind = static_cast<std::uint8_t>(IndexNode::kKey)};
constexpr NodeWords kHead{.first = 0, .count = 1};
constexpr std::size_t kFixedWords = 2;  // of the content, before the key

std::size_t front_bytes(std::size_t bytes) { return std::min(bytes, kKeyBytesInNode); }
std::size_t rest_bytes(std::size_t bytes) { return bytes - front_bytes(bytes); }
std::size_t content_words(std::size_t bytes) {
  return kFixedWords + words_for(front_bytes(bytes)) + piece_words(rest_bytes(bytes));
}

// Whether the key lies in the node's words as it is. REQUIRES: it is not long.
bool lies_there(const NodeSource& source, HeapRef ref, std::string_view key) {
  for (std::size_t word = kFixedWords; !key.empty(); ++word) {
    std::uint64_t expected = 0;
    const std::size_t bytes = std::min(key.size(), kWordBytes);
    std::memcpy(&expected, key.data(), bytes);
    if (source.peek(ref, word) != expected) return false;
    key.remove_prefix(bytes);
  }
  return true;
}

}  // namespace

bool KeyNode::read(const NodeSource& source, HeapRef ref) {
  const auto sizes = source.peek(ref, 1);
  if (!sizes) return false;
  const std::size_t bytes = *sizes >> 32;
  if (bytes <= kStoredBytesMax) {
    const auto node = std::span(image_).first(kNodeHeaderWords + content_words(bytes));
    if (!source.copy(ref, node, kHead)) return false;
    // The size may have changed since it was looked at.
    if (kind_of(node[0]) == kKeyKind && this->bytes() == bytes) return true;
  }
  source.report("a node that is no key", offset_of(ref));
  return false;
}

std::string_view KeyNode::front() const {
  return bytes_in(std::span(image_).subspan(kNodeHeaderWords + kFixedWords), front_bytes(bytes()));
}

std::span<const std::uint64_t> KeyNode::pieces() const {
  const std::size_t words = piece_words(rest_bytes(bytes()));
  return std::span(image_).subspan(kNodeHeaderWords + content_words(bytes()) - words, words);
}

std::optional<std::strong_ordering> KeyNode::compare(const NodeSource& source, std::string_view key) const {
  const std::string_view mine = front();
  if (!is_long()) return mine <=> key;
  if (const auto order = mine <=> key.substr(0, mine.size()); order != 0) return order;
  key.remove_prefix(mine.size());
  Piece piece;
  std::size_t left = rest_bytes(bytes());
  for (std::size_t index = 0; left > 0; ++index) {
    if (!piece.read(source, piece_ref(pieces(), index), std::min(left, kPieceBytes))) return std::nullopt;
    const std::string_view part = piece.bytes();
    if (const auto order = part <=> key.substr(0, part.size()); order != 0) return order;
    key.remove_prefix(part.size());
    left -= part.size();
  }
  return key.empty() ? std::strong_ordering::equal : std::strong_ordering::less;
}

std::optional<std::string_view> KeyNode::key(const NodeSource& source, std::string& scratch) const {
  if (!is_long()) return front();
  scratch = front();
  if (!read_pieces(source, pieces(), rest_bytes(bytes()), scratch)) return std::nullopt;
  return scratch;
}

void KeyNode::retire(Heap& heap, HeapRef ref) const {
  retire_pieces(heap, pieces(), rest_bytes(bytes()));
  heap.retire(ref);
}

std::optional<HeapRef> add_key(Heap& heap, std::string_view key, KeyHead head) {
  INGOT_CHECK(key.size() <= kStoredBytesMax, "requests are refused before");
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes - kNodeHeaderWords> image;
  const auto content = std::span(image).first(content_words(key.size()));
  const std::string_view front = key.substr(0, kKeyBytesInNode);
  const std::string_view rest = key.substr(front.size());
  content[0] = head.content();
  content[1] = key_hash(key) | std::uint64_t{key.size()} << 32;
  fill_words(content.subspan(kFixedWords, words_for(front.size())), front);
  if (!add_pieces(heap, rest, content.last(piece_words(rest.size())))) return std::nullopt;
  return heap.add(kKeyKind, content, kHead);
}

std::size_t key_room(std::size_t key_bytes) {
  return node_bytes(content_words(key_bytes)) + pieces_for(rest_bytes(key_bytes)) * kHeapNodeBytesMax;
}

std::optional<bool> is_key(const NodeSource& source, HeapRef ref, std::string_view key, std::uint32_t hash) {
  const bool fits = source.peek(ref, 1) == (hash | std::uint64_t{key.size()} << 32);
  if (fits && key.size() <= kKeyBytesInNode && lies_there(source, ref, key)) return true;
  KeyNode node;
  if (!node.read(source, ref)) return std::nullopt;
  if (node.hash() != hash) return false;
  const auto order = node.compare(source, key);
  if (!order) return std::nullopt;
  return *order == std::strong_ordering::equal;
}

}  // namespace ingot::replication_view_index
