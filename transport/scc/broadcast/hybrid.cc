// hybrid (Matienzo and Enright Jerger; papers, section 4): the best of three, by size. Off-chip below 64 bytes, as
// printed in the paper; modmpb for messages of several chunks, since it overlaps chunks; mpb in between.
#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/shared_buffers.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

constexpr std::size_t kOffChipBelowBytes = 64;
constexpr std::size_t kMpbMaxBytes = kRcceChunkBytes;

class HybridBroadcast : public Broadcast {
 public:
  HybridBroadcast(Core& core, const Group& group, const std::shared_ptr<Rcce>& rcce)
      : Broadcast(core, group), off_chip_(core, group, rcce), mpb_(core, group, rcce), modmpb_(core, group, rcce) {}

 private:
  void run(const Message& message) override {
    Broadcast& chosen = choose(message.bytes);
    chosen.broadcast(message);
    if (core_.id() != message.source) delivered_at(chosen.delivered_ps());
  }
  Broadcast& choose(std::size_t bytes) {
    if (bytes < kOffChipBelowBytes) return off_chip_;
    if (bytes <= kMpbMaxBytes) return mpb_;
    return modmpb_;
  }

  OffChipBroadcast off_chip_;
  MpbBroadcast mpb_;
  ModMpbBroadcast modmpb_;
};

}  // namespace

MadeBroadcast make_hybrid(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<HybridBroadcast>(core, setup.group, std::make_shared<Rcce>(core, setup.group));
}

}  // namespace ingot::scc::transport_scc_broadcast
