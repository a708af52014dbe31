// modmpb (Matienzo and Enright Jerger; papers, section 4): as mpb, but ceil(n / 12) broadcasters share the readers, and
// readers get a chunk into their **own MPB first**, acknowledge it, and copy it to private memory afterwards. So the
// source reads its next chunk from off-chip memory while the others write this one to it.
//
// The cores in ascending order form rows of 12. The source serves its own row and the left-most core of each other row,
// which serves the rest of that row from its own MPB.
#include <algorithm>

#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/shared_buffers.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

constexpr int kRowCores = 2 * kColumns;

// The core that a core reads from, and its readers.
struct Part {
  int broadcaster = -1;  // -1: the source
  std::vector<int> readers;
};

Part part_of(const Group& group, int core, int source) {
  const int source_row = group.rank(source) / kRowCores;
  const auto leader = [&](int row) { return row == source_row ? source : group.core(row * kRowCores); };
  const int row = group.rank(core) / kRowCores;
  Part part;
  if (core != source) part.broadcaster = core == leader(row) ? source : leader(row);
  if (core != leader(row)) return part;
  if (core == source) {  // the other broadcasters first: their readers wait
    for (int other = 0; other * kRowCores < group.size(); ++other) {
      if (other != source_row) part.readers.push_back(leader(other));
    }
  }
  for (int rank = row * kRowCores; rank < std::min((row + 1) * kRowCores, group.size()); ++rank) {
    if (group.core(rank) != core) part.readers.push_back(group.core(rank));
  }
  return part;
}

}  // namespace

// The chunk is in this core's MPB, for these cores to read.
void ModMpbBroadcast::serve(const std::vector<int>& readers) {
  for (const int reader : readers) rcce_->announce(reader);
}

void ModMpbBroadcast::run(const Message& message) {
  const Part part = part_of(group_, core_.id(), message.source);
  for (std::size_t done = 0; done < message.bytes; done += kRcceChunkBytes) {
    const std::size_t chunk = std::min(kRcceChunkBytes, message.bytes - done);
    const Address at = message.at + static_cast<Address>(done);
    if (part.broadcaster < 0) {
      put(core_, core_.id(), 0, at, chunk);
      serve(part.readers);
    } else {
      rcce_->await_announcement(part.broadcaster);
      get_to_mpb(core_, 0, part.broadcaster, 0, chunk);
      rcce_->acknowledge(part.broadcaster);
      serve(part.readers);
      get(core_, at, core_.id(), 0, chunk);
      if (done + chunk == message.bytes) delivered();
    }
    for (const int reader : part.readers) rcce_->await_ready(reader);
  }
}

MadeBroadcast make_modmpb(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<ModMpbBroadcast>(core, setup.group, std::make_shared<Rcce>(core, setup.group));
}

}  // namespace ingot::scc::transport_scc_broadcast
