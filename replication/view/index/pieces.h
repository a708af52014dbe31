// Pieces: the bytes of a key or value that are too many for its node. The node has their references, two in a word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replication/view/heap/heap.h"
#include "replication/view/heap/node_source.h"
#include "replication/view/index/limits.h"

namespace ingot::inline replication_view_index {

inline constexpr std::size_t pieces_for(std::size_t bytes) { return (bytes + kPieceBytes - 1) / kPieceBytes; }
inline constexpr std::size_t words_for(std::size_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes; }
inline constexpr std::size_t piece_words(std::size_t bytes) { return (pieces_for(bytes) + 1) / 2; }

// Copies bytes to words, with zeros behind them. REQUIRES: the words have room for them.
void fill_words(std::span<std::uint64_t> words, std::string_view bytes);

// The bytes at the beginning of words.
inline std::string_view bytes_in(std::span<const std::uint64_t> words, std::size_t bytes) {
  return {reinterpret_cast<const char*>(words.data()), bytes};
}

// Writes the pieces of `bytes` and puts their references into `words`. False: there is no memory for them, or damage.
// REQUIRES: words.size() == piece_words(bytes.size()).
[[nodiscard]] bool add_pieces(Heap& heap, std::string_view bytes, std::span<std::uint64_t> words);

// The reference of piece `index` in such words.
inline HeapRef piece_ref(std::span<const std::uint64_t> words, std::size_t index) {
  return HeapRef(static_cast<std::uint32_t>(words[index / 2] >> index % 2 * 32));
}

// A copy of one piece's bytes.
class Piece {
 public:
  // False: garbage, or damage. REQUIRES: bytes <= kPieceBytes.
  bool read(const NodeSource& source, HeapRef ref, std::size_t bytes);
  std::string_view bytes() const {
    return bytes_in(std::span(image_).subspan(kNodeHeaderWords), bytes_);
  }

 private:
  std::array<std::uint64_t, kNodeHeaderWords + kPieceBytes / kWordBytes> image_;
  std::size_t bytes_ = 0;
};

// Appends the `bytes` bytes of these pieces to `to`; false: garbage, or damage.
bool read_pieces(const NodeSource& source, std::span<const std::uint64_t> words, std::size_t bytes, std::string& to);

// Retires the pieces of `bytes` bytes.
void retire_pieces(Heap& heap, std::span<const std::uint64_t> words, std::size_t bytes);

}  // namespace ingot::replication_view_index
