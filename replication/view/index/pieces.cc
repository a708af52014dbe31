#include "replication/view/index/pieces.h"

#include <algorithm>
#include <cstring>

#include "replication/view/index/kinds.h"

namespace ingot::inline replication_view_index {
namespace {

constexpr NodeKind kPieceKind{.kind = static_cast<std::uint8_t>(IndexNode::kPiece)};

}  // namespace

void fill_words(std::span<std::uint64_t> words, std::string_view bytes) {
  std::fill(words.begin(), words.end(), 0);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
}

bool add_pieces(Heap& heap, std::string_view bytes, std::span<std::uint64_t> words) {
  std::fill(words.begin(), words.end(), 0);
  std::array<std::uint64_t, kPieceBytes / kWordBytes> content;
  for (std::size_t index = 0; !bytes.empty(); ++index) {
    const std::string_view part = bytes.substr(0, kPieceBytes);
    const std::span<std::uint64_t> used = std::span(content).first(words_for(part.size()));
    fill_words(used, part);
    const auto ref = heap.add(kPieceKind, used);
    if (!ref) return false;
    words[index / 2] |= std::uint64_t{ref->value()} << index % 2 * 32;
    bytes.remove_prefix(part.size());
  }
  return true;
}

bool Piece::read(const NodeSource& source, HeapRef ref, std::size_t bytes) {
  const std::span<std::uint64_t> node = std::span(image_).first(kNodeHeaderWords + words_for(bytes));
  if (!source.copy(ref, node)) return false;
  bytes_ = bytes;
  if (kind_of(node[0]) == kPieceKind) return true;
  source.report("a node that is no piece of a key or value", offset_of(ref));
  return false;
}

bool read_pieces(const NodeSource& source, std::span<const std::uint64_t> words, std::size_t bytes, std::string& to) {
  Piece piece;
  for (std::size_t index = 0; bytes > 0; ++index) {
    const std::size_t part = std::min(bytes, kPieceBytes);
    if (!piece.read(source, piece_ref(words, index), part)) return false;
    to += piece.bytes();
    bytes -= part;
  }
  return true;
}

void retire_pieces(Heap& heap, std::span<const std::uint64_t> words, std::size_t bytes) {
  for (std::size_t index = 0; index < pieces_for(bytes); ++index) heap.retire(piece_ref(words, index));
}

}  // namespace ingot::replication_view_index
