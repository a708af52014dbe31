// The bytes of a board: one page, in words of 8 bytes, little-endian; each access is one of a whole word.
//
//   word            bytes
//      0               32   magic, layout version, identity, publisher's incarnation; written once
//      8               16   state, number of the current generation: the supervisor's
//     16         4 x 32       names of generations; cell [number % 4] is of generation `number` (NamedGeneration)
//     64               16   revision, time of the read barrier: the publisher's
//    256               64   WriterLock, which the publisher holds as long as it lives
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/host/writer_lock.h"

namespace ingot::inline replication_view_board {

inline constexpr std::size_t kBoardBytes = 4096;

inline constexpr std::uint64_t kBoardMagic = 0x31445242544f474e;  // "NGOTBRD1", first byte lowest
inline constexpr std::uint64_t kBoardLayout = 1;

inline constexpr std::size_t kBoardMagicWord = 0;
inline constexpr std::size_t kBoardLayoutWord = 1;
inline constexpr std::size_t kBoardIdentityWord = 2;
inline constexpr std::size_t kBoardIncarnationWord = 3;
inline constexpr std::size_t kBoardStateWord = 8;
inline constexpr std::size_t kBoardNumberWord = 9;
inline constexpr std::size_t kBoardCellsWord = 16;
inline constexpr std::size_t kBoardCells = 4;
inline constexpr std::size_t kBoardCellWords = 4;
inline constexpr std::size_t kBoardRevisionWord = 64;
inline constexpr std::size_t kBoardBarrierWord = 65;
inline constexpr std::size_t kBoardLockWord = 256;
static_assert(kBoardCellsWord + kBoardCells * kBoardCellWords <= kBoardRevisionWord);
static_assert(kBoardLockWord * sizeof(std::uint64_t) + sizeof(WriterLock) <= kBoardBytes);

inline constexpr std::size_t board_cell_word(std::uint64_t number) {
  return kBoardCellsWord + number % kBoardCells * kBoardCellWords;
}

}  // namespace ingot::replication_view_board
