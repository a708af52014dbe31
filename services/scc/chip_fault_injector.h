// Drills on the simulated chip: stops, continues or ends a core between two of its accesses to memory.
#pragma once

#include "services/control/fault_injector.h"
#include "services/scc/chip_host.h"

namespace ingot::inline services_scc {

class ChipFaultInjector final : public FaultInjector {
 public:
  explicit ChipFaultInjector(ChipHost& chip) : chip_(chip) {}  // outlives the object

  ProcessCondition condition(const ::ingot::control::v1::Hit& target) const override;
  // Waits until the chip is between two rounds; the fault takes effect when the next one begins.
  absl::Status inject(const ::ingot::control::v1::Hit& target,
                      ::ingot::control::v1::DrillRequest::Action action) override;

 private:
  ChipHost& chip_;
};

}  // namespace ingot::services_scc
