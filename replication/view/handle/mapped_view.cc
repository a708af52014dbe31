#include "replication/view/handle/mapped_view.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::inline replication_view_handle {

absl::StatusOr<std::unique_ptr<MappedView>> MappedView::map(const ViewTicket& ticket) {
  auto board_memory = Segment::map(ticket.board.get(), Segment::Access::kReadOnly);
  if (!board_memory.ok()) return board_memory.status();
  auto board = BoardReader::open(board_memory->bytes());
  if (!board.ok()) return board.status();
  auto memory = Segment::map(ticket.generation.get(), Segment::Access::kReadOnly);
  if (!memory.ok()) return memory.status();
  auto reader = ViewReader::open(memory->bytes());
  if (!reader.ok()) return reader.status();
  if (reader->identity() != board->identity() || reader->generation() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("the generation is number ", reader->generation(), " of instance ",
                                                   reader->identity(), ", the board is of instance ",
                                                   board->identity()));
  }
  return std::unique_ptr<MappedView>(
      new MappedView(*std::move(board_memory), *board, *std::move(memory), *reader));
}

}  // namespace ingot::replication_view_handle
