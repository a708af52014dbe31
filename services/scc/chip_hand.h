// Drills on the simulated chip: a core is stopped, continued or ended between two of its accesses to memory.
#pragma once

#include "services/control/drill_hand.h"
#include "services/scc/chip_host.h"

namespace ingot {

class ChipHand final : public DrillHand {
 public:
  explicit ChipHand(ChipHost& chip) : chip_(chip) {}  // outlives the object

  ProcessCondition condition(const ::ingot::control::v1::Hit& hit) const override;
  // Waits until the chip is between two rounds; takes effect when the next begins.
  absl::Status strike(const ::ingot::control::v1::Hit& hit,
                      ::ingot::control::v1::DrillRequest::Action action) override;

 private:
  ChipHost& chip_;
};

}  // namespace ingot
