// rcce: n - 1 unicasts, whole messages, one after another (papers, section 3).
//
// binomial: RCCE_comm's broadcast of small messages. Ranks count from the root. A core receives the whole message once,
// from the rank that lacks its lowest set bit, and then sends it to the ranks with one lower bit set in addition, the
// furthest first. All sends are RCCE's, synchronous. (papers, section 5; which broadcasts RCCE_comm had is from
// memory.)
#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/rcce/rcce.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

class RcceBroadcast : public Broadcast {
 public:
  RcceBroadcast(Core& core, const Group& group) : Broadcast(core, group), rcce_(core, group) {}

 private:
  void run(const Message& message) override {
    rcce_.broadcast(message.at, message.bytes, message.source);
    if (core_.id() != message.source) delivered();
  }

  Rcce rcce_;
};

class BinomialBroadcast : public Broadcast {
 public:
  BinomialBroadcast(Core& core, const Group& group) : Broadcast(core, group), rcce_(core, group) {}

 private:
  void run(const Message& message) override {
    const int rank = group_.relative(core_.id(), message.source);
    int bit = 1;
    while (bit < group_.size() && (rank & bit) == 0) bit *= 2;
    if (rank != 0) {
      rcce_.receive(message.at, message.bytes, group_.core_at(rank - bit, message.source));
      delivered();
    }
    for (bit /= 2; bit != 0; bit /= 2) {
      if (rank + bit < group_.size()) rcce_.send(message.at, message.bytes, group_.core_at(rank + bit, message.source));
    }
  }

  Rcce rcce_;
};

}  // namespace

MadeBroadcast make_rcce(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<RcceBroadcast>(core, setup.group);
}
MadeBroadcast make_binomial(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<BinomialBroadcast>(core, setup.group);
}

}  // namespace ingot::scc::transport_scc_broadcast
