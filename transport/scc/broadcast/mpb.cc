// mpb (Matienzo and Enright Jerger; papers, section 4): the source puts 4 KiB into its own MPB and raises a flag at
// every other core. All get the chunk at the same time, straight into private memory, and raise a flag at the source,
// which waits for all before it puts the next chunk. The price is contention at the source's MPB.
#include <algorithm>

#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/shared_buffers.h"

namespace ingot::scc::inline transport_scc_broadcast {

void MpbBroadcast::run(const Message& message) {
  for (std::size_t done = 0; done < message.bytes; done += kRcceChunkBytes) {
    const std::size_t chunk = std::min(kRcceChunkBytes, message.bytes - done);
    const Address at = message.at + static_cast<Address>(done);
    if (core_.id() == message.source) {
      put(core_, core_.id(), 0, at, chunk);
      for (const int other : group_.cores()) {
        if (other != message.source) rcce_->announce(other);
      }
      for (const int other : group_.cores()) {
        if (other != message.source) rcce_->await_ready(other);
      }
    } else {
      rcce_->await_announcement(message.source);
      get(core_, at, message.source, 0, chunk);
      rcce_->acknowledge(message.source);
    }
  }
  if (core_.id() != message.source) delivered();
}

MadeBroadcast make_mpb(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<MpbBroadcast>(core, setup.group, std::make_shared<Rcce>(core, setup.group));
}

}  // namespace ingot::scc::transport_scc_broadcast
