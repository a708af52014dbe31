// off-chip (Matienzo and Enright Jerger; papers, section 4): the source copies the whole message to shared memory
// behind its own controller and raises a flag at every other core; each copies it from there to private memory. There
// are no handshakes by chunk: one flag there, one flag back. Shared memory has the type that the chip maps it with
// (ChipOptions: uncached by default, so words travel one by one).
//
// Each source has a place of its own, so the next broadcast does not wait for this one's readers; a longer message goes
// in several parts.
#include <algorithm>

#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/shared_buffers.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

constexpr int kCoresPerController = kCores / kControllers;
constexpr std::size_t kPlaceBytes = kLutEntryBytes / kCoresPerController / 4096 * 4096;
static_assert(kPlaceBytes >= std::size_t{1} << 20, "1 MiB goes in one part");

Address place_of(int source) {
  int before = 0;  // cores of the same controller with lower numbers
  for (int core = 0; core < source; ++core) before += controller_of(core) == controller_of(source) ? 1 : 0;
  return shared_address(static_cast<std::size_t>(controller_of(source)) * kLutEntryBytes +
                        static_cast<std::size_t>(before) * kPlaceBytes);
}

}  // namespace

void OffChipBroadcast::run(const Message& message) {
  const Address shared = place_of(message.source);
  for (std::size_t done = 0; done < message.bytes; done += kPlaceBytes) {
    const std::size_t part = std::min(kPlaceBytes, message.bytes - done);
    const Address at = message.at + static_cast<Address>(done);
    if (core_.id() == message.source) {
      core_.copy(shared, at, part);
      core_.flush_wcb();  // if shared memory is MPB-typed
      for (const int other : group_.cores()) {
        if (other != message.source) rcce_->announce(other);
      }
      for (const int other : group_.cores()) {
        if (other != message.source) rcce_->await_ready(other);
      }
    } else {
      rcce_->await_announcement(message.source);
      core_.invalidate_mpb();
      core_.copy(at, shared, part);
      if (done + part == message.bytes) delivered();
      rcce_->acknowledge(message.source);
    }
  }
}

MadeBroadcast make_off_chip(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<OffChipBroadcast>(core, setup.group, std::make_shared<Rcce>(core, setup.group));
}

}  // namespace ingot::scc::transport_scc_broadcast
