#include "replication/view/board/board.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/shared_cell.h"
#include "replication/view/board/layout.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_view_board {
namespace {

using Word = SharedCell<std::uint64_t>;

Word& cell(std::span<std::byte> memory, std::size_t word) { return reinterpret_cast<Word*>(memory.data())[word]; }

// Acquire: with what a word says comes what its writer has stored before (the stores below).
std::uint64_t load(std::span<const std::byte> memory, std::size_t word) {
  return reinterpret_cast<const Word*>(memory.data())[word].load(std::memory_order_acquire);
}

const WriterLock& lock_in(std::span<const std::byte> memory) {
  return *reinterpret_cast<const WriterLock*>(memory.data() + kBoardLockWord * sizeof(std::uint64_t));
}

// The words that say whose board it is; empty: all is as it should be.
absl::Status check_board(std::span<const std::byte> memory) {
  if (memory.size() != kBoardBytes || load(memory, kBoardMagicWord) != kBoardMagic) {
    return absl::InvalidArgumentError("the memory is no board of a view");
  }
  if (load(memory, kBoardLayoutWord) != kBoardLayout) {
    return absl::InvalidArgumentError(absl::StrCat("the board has layout ", load(memory, kBoardLayoutWord),
                                                   ", this program reads layout ", kBoardLayout));
  }
  if (load(memory, kBoardIdentityWord) == 0) return absl::InvalidArgumentError("the board names no instance");
  return absl::OkStatus();
}

template <typename Enum>
Enum enum_of(std::uint64_t word) {
  return word < enum_names(Enum{}).size() ? static_cast<Enum>(word) : Enum{};
}

}  // namespace

absl::StatusOr<Descriptor> create_board_memory() { return create_segment("ingot-view-board", kBoardBytes); }

// ---- The supervisor ------------------------------------------------------------------------------------------------

absl::StatusOr<BoardKeeper> BoardKeeper::create(std::span<std::byte> memory, const BoardOwner& owner) {
  if (memory.size() == kBoardBytes && load(memory, kBoardMagicWord) == 0) {
    cell(memory, kBoardLayoutWord).store(kBoardLayout, std::memory_order_relaxed);
    cell(memory, kBoardIdentityWord).store(owner.identity, std::memory_order_relaxed);
    cell(memory, kBoardIncarnationWord).store(owner.incarnation, std::memory_order_relaxed);
    cell(memory, kBoardRevisionWord).store(static_cast<std::uint64_t>(owner.revision), std::memory_order_relaxed);
    // Release: who finds the magic number finds the rest (check_board).
    cell(memory, kBoardMagicWord).store(kBoardMagic, std::memory_order_release);
  }
  if (auto status = check_board(memory); !status.ok()) return status;
  if (load(memory, kBoardIdentityWord) != owner.identity || load(memory, kBoardIncarnationWord) != owner.incarnation) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the board is of identity ", load(memory, kBoardIdentityWord), " and publisher ",
        load(memory, kBoardIncarnationWord), ", not of ", owner.identity, " and ", owner.incarnation));
  }
  return BoardKeeper(memory);
}

void BoardKeeper::name(const NamedGeneration& generation) {
  INGOT_CHECK(generation.number > load(memory_, kBoardNumberWord), "generations are numbered in the order of naming");
  const std::size_t first = board_cell_word(generation.number);
  // The cell is another generation's: a reader that sees these words sees the number of the one before this, too
  // (BoardReader::generation).
  store_store_fence();
  const std::uint64_t words[kBoardCellWords] = {generation.bytes, static_cast<std::uint64_t>(generation.why),
                                                generation.incarnation, 0};
  for (std::size_t i = 0; i < kBoardCellWords; ++i) cell(memory_, first + i).store(words[i], std::memory_order_relaxed);
  // Release: with the number comes its cell.
  cell(memory_, kBoardNumberWord).store(generation.number, std::memory_order_release);
}

void BoardKeeper::set_state(BoardState state) {
  cell(memory_, kBoardStateWord).store(static_cast<std::uint64_t>(state), std::memory_order_release);
}

// ---- The publisher -------------------------------------------------------------------------------------------------

absl::StatusOr<BoardPublisher> BoardPublisher::open(std::span<std::byte> memory, std::uint64_t incarnation) {
  if (auto status = check_board(memory); !status.ok()) return status;
  if (load(memory, kBoardIncarnationWord) != incarnation) {
    return absl::InvalidArgumentError(absl::StrCat("the board is of publisher ", load(memory, kBoardIncarnationWord),
                                                   ", not of ", incarnation));
  }
  return BoardPublisher(memory);
}

void BoardPublisher::hold() {
  reinterpret_cast<WriterLock*>(memory_.data() + kBoardLockWord * sizeof(std::uint64_t))->acquire();
}

void BoardPublisher::set_revision(std::int64_t revision) {
  if (revision <= static_cast<std::int64_t>(load(memory_, kBoardRevisionWord))) return;
  // Release: with the revision comes the root (GenerationWriter::publish).
  cell(memory_, kBoardRevisionWord).store(static_cast<std::uint64_t>(revision), std::memory_order_release);
}

void BoardPublisher::set_barrier_ns(std::int64_t sent_ns) {
  // Release: likewise, and with it comes the number that the publisher has seen named.
  cell(memory_, kBoardBarrierWord).store(static_cast<std::uint64_t>(sent_ns), std::memory_order_release);
}

// ---- Readers -------------------------------------------------------------------------------------------------------

absl::StatusOr<BoardReader> BoardReader::open(std::span<const std::byte> memory) {
  if (auto status = check_board(memory); !status.ok()) return status;
  BoardReader reader(memory);
  reader.identity_ = load(memory, kBoardIdentityWord);
  reader.incarnation_ = load(memory, kBoardIncarnationWord);
  if (reader.identity_ == 0) return absl::InvalidArgumentError("the board names no instance");
  return reader;
}

BoardState BoardReader::state() const { return enum_of<BoardState>(load(memory_, kBoardStateWord)); }

std::uint64_t BoardReader::number() const { return load(memory_, kBoardNumberWord); }

std::optional<NamedGeneration> BoardReader::generation() const {
  constexpr int kAttempts = 3;  // a supervisor names no kBoardCells generations during one look, unless this one slept
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t number = load(memory_, kBoardNumberWord);
    if (number == 0) return std::nullopt;
    const std::size_t first = board_cell_word(number);
    const NamedGeneration generation{.number = number,
                                     .bytes = load(memory_, first),
                                     .why = enum_of<WhyReplaced>(load(memory_, first + 1)),
                                     .incarnation = load(memory_, first + 2)};
    // The cell is written again for number + kBoardCells, after the number before that.
    if (load(memory_, kBoardNumberWord) - number < kBoardCells - 1) return generation;
  }
  return std::nullopt;
}

std::int64_t BoardReader::revision() const { return static_cast<std::int64_t>(load(memory_, kBoardRevisionWord)); }

std::int64_t BoardReader::barrier_ns() const { return static_cast<std::int64_t>(load(memory_, kBoardBarrierWord)); }

WriterState BoardReader::publisher() const { return lock_in(memory_).state(); }

}  // namespace ingot::replication_view_board
