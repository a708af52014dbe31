// A view of a few keys in memfds, and the tickets that lead to it: the supervisor and the publisher in one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replication/view/board/board.h"
#include "replication/view/generation/writer.h"
#include "replication/view/handle/tickets.h"
#include "transport/host/segment.h"

namespace ingot::test {

// Not thread-safe, but for readers of its memory.
class SmallView {
 public:
  explicit SmallView(std::uint64_t identity = 77);

  // A root at a revision, at which these keys get values; empty: they are deleted.
  void publish(ViewRevision revision, const std::vector<std::pair<std::string, std::string>>& puts);
  // What is published from now on is the next generation's, which tickets lead to when it is named.
  void next_generation();
  void name();
  void next_board(std::uint64_t identity);
  void hold() { publisher_->hold(); }
  void barrier(std::int64_t sent_ns) { publisher_->set_barrier_ns(sent_ns); }
  // Of the generation that tickets lead to.
  void mark_gone_and_punch();
  void damage();

  ViewTicket ticket() const;
  std::span<std::byte> board_bytes() const { return board_.mapped.bytes(); }
  std::span<std::byte> generation_bytes() const { return generations_[named_].mapped.bytes(); }
  // `spoil`: what becomes of each ticket. The view outlives them.
  std::unique_ptr<ViewTickets> tickets(std::function<void(ViewTicket&)> spoil = {});

  bool away = false;  // no ticket is given
  int forgotten = 0;

 private:
  struct Memory {
    Descriptor fd;
    Segment mapped;
  };

  std::uint64_t identity_;
  std::uint64_t incarnation_ = 0;
  std::uint64_t number_ = 0;  // of the generation that is written
  Memory board_;
  std::vector<Memory> generations_;
  std::size_t named_ = 0;  // the one that tickets lead to
  std::unique_ptr<BoardKeeper> keeper_;
  std::unique_ptr<BoardPublisher> publisher_;
  std::unique_ptr<GenerationWriter> writer_;
  std::uint64_t now_ms_ = 1;
};

}  // namespace ingot::test
