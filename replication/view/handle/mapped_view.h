// A ticket's board and generation, mapped read-only.
#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "replication/view/board/board.h"
#include "replication/view/generation/reader.h"
#include "replication/view/handle/tickets.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_view_handle {

// Not thread-safe.
class MappedView {
 public:
  // Errors: INVALID_ARGUMENT (no board, no generation, not of one instance), UNAVAILABLE (it has no root yet), and as
  // Segment::map.
  static absl::StatusOr<std::unique_ptr<MappedView>> map(const ViewTicket& ticket);

  const BoardReader& board() const { return board_; }
  ViewReader& reader() { return reader_; }
  std::uint64_t number() const { return reader_.generation(); }

  // Its board names its generation, and its publisher lives or has not begun yet.
  bool at_rest() const {
    return board_.number() == number() && board_.state() == BoardState::kLive &&
           board_.publisher() != WriterState::kGone;
  }

 private:
  MappedView(Segment board_memory, BoardReader board, Segment memory, ViewReader reader)
      : board_memory_(std::move(board_memory)), memory_(std::move(memory)), board_(board), reader_(reader) {}

  Segment board_memory_;
  Segment memory_;
  BoardReader board_;
  ViewReader reader_;
};

}  // namespace ingot::replication_view_handle
