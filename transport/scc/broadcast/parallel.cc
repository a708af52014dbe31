// parallel and its kin (Matienzo and Enright Jerger; papers, section 4): a core with a chunk in private memory
// sends it on to its neighbours (neighbours.h), with RCCE's handshake for each chunk and neighbour.
//
// parallel            cells are cores; a chunk is 4 KiB
// optimized-parallel  a source at the edge sends to a core in the middle first, which does the rest
// tiled-parallel      cells are tiles: their left cores forward, then serve the right core of their own tile. A left
//                     core borrows the 4 KiB of its tile-mate, so that a chunk is 8 KiB: the mate does not send
//                     meanwhile, unless it is the source, and then nothing is borrowed.
// optimized-tiled-parallel  both
//
// The papers do not say how the chunks of one message follow each other; here each is forwarded as soon as it arrives.
#include <algorithm>
#include <map>

#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/neighbours.h"
#include "transport/scc/rcce/rcce.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

class ParallelBroadcast : public Broadcast {
 public:
  ParallelBroadcast(Core& core, const Group& group, Cells cells, bool from_centre)
      : Broadcast(core, group), rcce_(core, group), cells_(cells), from_centre_(from_centre) {}

 private:
  struct Place {
    int parent = -1;
    std::vector<int> children;
  };

  const Place& place(int source) {
    const auto [found, inserted] = places_.try_emplace(source);
    if (!inserted) return found->second;
    const Forwarding to = forward_to_neighbours(group_, source, cells_, from_centre_);
    found->second.children = to[static_cast<std::size_t>(core_.id())];
    for (int other = 0; other < kCores; ++other) {
      const auto& children = to[static_cast<std::size_t>(other)];
      if (std::find(children.begin(), children.end(), core_.id()) != children.end()) found->second.parent = other;
    }
    return found->second;
  }

  // Bytes that this core sends at once.
  std::size_t chunk_of(int sender, int source) const {
    const bool borrows = cells_ == Cells::kTiles && sender % 2 == 0 && source != sender + 1;
    return borrows ? 2 * kRcceChunkBytes : kRcceChunkBytes;
  }

  // Bytes that do not fit into the sender's half of the tile's MPB are in its mate's.
  void send(Address from, std::size_t bytes, int to) {
    const std::size_t first = std::min(bytes, kRcceChunkBytes);
    put(core_, core_.id(), 0, from, first);
    if (first < bytes) put(core_, core_.id() + 1, 0, from + static_cast<Address>(first), bytes - first);
    rcce_.announce(to);
    rcce_.await_ready(to);
  }
  void receive(Address to, std::size_t bytes, int from) {
    rcce_.await_announcement(from);
    const std::size_t first = std::min(bytes, kRcceChunkBytes);
    get(core_, to, from, 0, first);
    if (first < bytes) get(core_, to + static_cast<Address>(first), from + 1, 0, bytes - first);
    rcce_.acknowledge(from);
  }

  void run(const Message& message) override {
    const Place& mine = place(message.source);
    const std::size_t step = cells_ == Cells::kTiles ? 2 * kRcceChunkBytes : kRcceChunkBytes;
    for (std::size_t done = 0; done < message.bytes; done += step) {
      const std::size_t end = std::min(done + step, message.bytes);
      if (mine.parent >= 0) {
        const std::size_t chunk = chunk_of(mine.parent, message.source);
        for (std::size_t at = done; at < end; at += chunk) {
          receive(message.at + static_cast<Address>(at), std::min(chunk, end - at), mine.parent);
        }
        if (end == message.bytes) delivered();
      }
      const std::size_t chunk = chunk_of(core_.id(), message.source);
      for (const int child : mine.children) {
        for (std::size_t at = done; at < end; at += chunk) {
          send(message.at + static_cast<Address>(at), std::min(chunk, end - at), child);
        }
      }
    }
  }

  Rcce rcce_;
  const Cells cells_;
  const bool from_centre_;
  std::map<int, Place> places_;  // by source
};

MadeBroadcast make(Core& core, const BroadcastSetup& setup, Cells cells, bool from_centre) {
  return std::make_unique<ParallelBroadcast>(core, setup.group, cells, from_centre);
}

}  // namespace

MadeBroadcast make_parallel(Core& core, const BroadcastSetup& setup) { return make(core, setup, Cells::kCores, false); }
MadeBroadcast make_optimized_parallel(Core& core, const BroadcastSetup& setup) {
  return make(core, setup, Cells::kCores, true);
}
MadeBroadcast make_tiled_parallel(Core& core, const BroadcastSetup& setup) {
  return make(core, setup, Cells::kTiles, false);
}
MadeBroadcast make_optimized_tiled_parallel(Core& core, const BroadcastSetup& setup) {
  return make(core, setup, Cells::kTiles, true);
}

}  // namespace ingot::scc::transport_scc_broadcast
