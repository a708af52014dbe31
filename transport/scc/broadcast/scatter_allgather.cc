// scatter-allgather: RCCE_comm's broadcast of large messages, described from memory (papers, section 5). The message is
// divided into n pieces, one for each rank, counted from the root. First a binomial scatter: a core receives the pieces
// of all ranks below it in the tree at once, and repeatedly sends the upper half of what it has left. Then a ring: n -
// 1 times each core sends the last received piece to its right neighbour and receives the next from its left. Sends are
// RCCE's, synchronous, so even ranks send first and odd ones receive first.
#include <algorithm>

#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/rcce/rcce.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

class ScatterAllgather : public Broadcast {
 public:
  ScatterAllgather(Core& core, const Group& group) : Broadcast(core, group), rcce_(core, group) {}

 private:
  std::size_t piece(int rank) const {  // its first byte
    return message_.bytes * static_cast<std::size_t>(rank) / static_cast<std::size_t>(group_.size());
  }
  int core_at(int rank) const { return group_.core_at(rank, message_.source); }

  // Pieces from rank `first` to before rank `last`.
  void send(int to, int first, int last) {
    last = std::min(last, group_.size());
    rcce_.send(message_.at + static_cast<Address>(piece(first)), piece(last) - piece(first), core_at(to));
  }
  void receive(int from, int first, int last) {
    last = std::min(last, group_.size());
    rcce_.receive(message_.at + static_cast<Address>(piece(first)), piece(last) - piece(first), core_at(from));
  }

  void run(const Message& message) override {
    message_ = message;
    rank_ = group_.relative(core_.id(), message.source);
    scatter();
    allgather();
    if (core_.id() != message.source) delivered();
  }

  void scatter() {
    int bit = 1;
    while (bit < group_.size() && (rank_ & bit) == 0) bit *= 2;
    if (rank_ != 0) receive(rank_ - bit, rank_, rank_ + bit);
    for (bit /= 2; bit != 0; bit /= 2) {
      if (rank_ + bit < group_.size()) send(rank_ + bit, rank_ + bit, rank_ + 2 * bit);
    }
  }

  void allgather() {
    const int n = group_.size(), right = (rank_ + 1) % n, left = (rank_ + n - 1) % n;
    for (int step = 0; step < n - 1; ++step) {
      const int mine = (rank_ + n - step) % n, next = (left + n - step) % n;
      if (rank_ % 2 == 0) send(right, mine, mine + 1);
      receive(left, next, next + 1);
      if (rank_ % 2 != 0) send(right, mine, mine + 1);
    }
  }

  Rcce rcce_;
  Message message_;
  int rank_ = 0;
};

}  // namespace

MadeBroadcast make_scatter_allgather(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<ScatterAllgather>(core, setup.group);
}

}  // namespace ingot::scc::transport_scc_broadcast
