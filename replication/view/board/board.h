// The board of a view: one page that tells every reader which generation is current, which revision it has reached,
// whose state it is, and whether its publisher still lives.
//
// A board belongs to one publisher, whose process makes it and alone writes into it. So a publisher that was stopped,
// replaced and continued writes into a board that no reader is given any more. Readers map it read-only.
//
// The publisher's WriterLock is in the same page: the kernel marks it when the publisher's thread ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"
#include "transport/host/writer_lock.h"

namespace ingot::inline replication_view_board {

enum class BoardState : std::uint8_t {
  kLive,
  kClosed,   // the instance was stopped in order; nothing follows under this board
  kDropped,  // the view was given up for lack of memory; the instance goes on
};
constexpr std::array<const char*, 3> enum_names(BoardState) { return {"live", "closed", "dropped"}; }

// Why a generation took the place of the one before it.
enum class WhyReplaced : std::uint8_t {
  kFirst,      // there was none
  kFull,       // it had no space, or soon would have none
  kSparse,     // it was far larger than what lived in it
  kOvertaken,  // changes that it lacked were compacted
  kDied,       // its publisher died
  kDamaged,    // it held what no writer writes, or the source gave what cannot be
  kLayout,     // a program of another version writes another layout
  kSource,     // its source became another one
};
constexpr std::array<const char*, 8> enum_names(WhyReplaced) {
  return {"first", "full", "sparse", "overtaken", "died", "damaged", "layout", "source"};
}

struct NamedGeneration {
  std::uint64_t number = 0;  // from 1 on, one more for each; over all boards of an instance
  std::uint64_t bytes = 0;   // of its memory
  WhyReplaced why = WhyReplaced::kFirst;
  std::uint64_t incarnation = 0;  // of the publisher that has made it
};

struct BoardOwner {
  std::uint64_t identity = 0;     // of the state: the cluster id; never 0
  std::uint64_t incarnation = 0;  // of the publisher that the board is for
  std::int64_t revision = 0;      // the newest that any board of this state has told; 0: none
};

// A board's memory, kBoardBytes of zeros; a reader's descriptor of it is read_only_generation() (generation/memory.h).
// Errors: as create_segment.
absl::StatusOr<Descriptor> create_board_memory();

// The side that makes the board and names generations. Not thread-safe. The memory outlives it.
class BoardKeeper {
 public:
  // If the memory is zeros, writes the fields that do not change. If it is a board that another keeper has begun,
  // goes on with that board, whose owner must be `owner`. Errors: INVALID_ARGUMENT (another size, neither zeros nor
  // such a board).
  static absl::StatusOr<BoardKeeper> create(std::span<std::byte> memory, const BoardOwner& owner);

  // From now on that generation is the current one. REQUIRES: its first root is published, at a revision that is not
  // below any that the board has told; its number is above that of the generation before.
  void name(const NamedGeneration& generation);

  void set_state(BoardState state);

 private:
  explicit BoardKeeper(std::span<std::byte> memory) : memory_(memory) {}

  std::span<std::byte> memory_;
};

// The publisher's side. Not thread-safe: the thread that calls hold() does all. The memory outlives it.
class BoardPublisher {
 public:
  // Errors: INVALID_ARGUMENT (no board, or another incarnation's).
  static absl::StatusOr<BoardPublisher> open(std::span<std::byte> memory, std::uint64_t incarnation);

  // From now on readers see the publisher as alive, until this thread ends. Once.
  void hold();

  // The current generation's newest root has this revision. A lower revision than before is ignored. To be called after
  // the root was published.
  void set_revision(std::int64_t revision);

  // The current generation's newest root has every write that was acknowledged at this time (CLOCK_MONOTONIC): at it a
  // read barrier was sent whose revision that root has reached. 0: no such time is known any more. To be called after
  // the root was published.
  void set_barrier_ns(std::int64_t sent_ns);

 private:
  explicit BoardPublisher(std::span<std::byte> memory) : memory_(memory) {}

  std::span<std::byte> memory_;
};

// A reader's side. It reads any memory safely: whatever bytes are there and however they change, each call ends and
// returns a value of its type. Not thread-safe. The memory outlives it.
class BoardReader {
 public:
  // Errors: INVALID_ARGUMENT (no board, another layout, no identity).
  static absl::StatusOr<BoardReader> open(std::span<const std::byte> memory);

  // As the board had them when it was opened.
  std::uint64_t identity() const { return identity_; }
  std::uint64_t incarnation() const { return incarnation_; }

  BoardState state() const;
  // The current generation; nothing: there is none yet, or the bytes are no board's any more.
  std::optional<NamedGeneration> generation() const;
  // The current generation's number alone; 0: there is none yet.
  std::uint64_t number() const;
  // The newest revision that was published, by this publisher or an earlier one; 0: none. The current generation's
  // newest root has it, unless another generation was named meanwhile.
  std::int64_t revision() const;
  // As BoardPublisher::set_barrier_ns; 0: unknown. A root that is looked up after this call has every write that was
  // acknowledged at that time, if number(), called after the look-up, is the number of the root's generation.
  std::int64_t barrier_ns() const;
  // kNone: it has not begun. kGone: it writes nothing any more.
  WriterState publisher() const;

 private:
  explicit BoardReader(std::span<const std::byte> memory) : memory_(memory) {}

  std::span<const std::byte> memory_;
  std::uint64_t identity_ = 0;
  std::uint64_t incarnation_ = 0;
};

}  // namespace ingot::replication_view_board
