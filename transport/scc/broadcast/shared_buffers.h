// The broadcasts of Matienzo and Enright Jerger that read from one place (papers, section 4), as classes, since hybrid
// uses all three. They share RCCE's layout, chunk and flags; all flags are 0 between two broadcasts.
#pragma once

#include <memory>
#include <vector>

#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/rcce/rcce.h"

namespace ingot::scc::inline transport_scc_broadcast {

class MpbBroadcast : public Broadcast {  // mpb.cc
 public:
  MpbBroadcast(Core& core, const Group& group, std::shared_ptr<Rcce> rcce)
      : Broadcast(core, group), rcce_(std::move(rcce)) {}
  void run(const Message& message) override;

 private:
  const std::shared_ptr<Rcce> rcce_;
};

class OffChipBroadcast : public Broadcast {  // off_chip.cc
 public:
  OffChipBroadcast(Core& core, const Group& group, std::shared_ptr<Rcce> rcce)
      : Broadcast(core, group), rcce_(std::move(rcce)) {}
  void run(const Message& message) override;

 private:
  const std::shared_ptr<Rcce> rcce_;
};

class ModMpbBroadcast : public Broadcast {  // modmpb.cc
 public:
  ModMpbBroadcast(Core& core, const Group& group, std::shared_ptr<Rcce> rcce)
      : Broadcast(core, group), rcce_(std::move(rcce)) {}
  void run(const Message& message) override;

 private:
  void serve(const std::vector<int>& readers);

  const std::shared_ptr<Rcce> rcce_;
};

}  // namespace ingot::scc::transport_scc_broadcast
