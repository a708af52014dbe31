// Executes drills: by signals to processes of this machine, or on the simulated chip.
#pragma once

#include "absl/status/status.h"
#include "proto/ingot/control/v1/control.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/launch/process_signal.h"

namespace ingot::inline services_control {

// Thread-safe.
class FaultInjector {
 public:
  virtual ~FaultInjector() = default;

  // The target's present condition, which the supervisor may not have noticed yet.
  virtual ProcessCondition condition(const ::ingot::control::v1::Hit& target) const = 0;

  // Returns once the fault is sent. Errors: a sentence. REQUIRES: one of the three actions.
  virtual absl::Status inject(const ::ingot::control::v1::Hit& target,
                              ::ingot::control::v1::DrillRequest::Action action) = 0;
};

// Injects faults by SIGKILL, SIGSTOP and SIGCONT.
class SignalFaultInjector final : public FaultInjector {
 public:
  explicit SignalFaultInjector(const InstanceView& view) : view_(view) {}  // outlives the object

  ProcessCondition condition(const ::ingot::control::v1::Hit& target) const override;
  absl::Status inject(const ::ingot::control::v1::Hit& target,
                      ::ingot::control::v1::DrillRequest::Action action) override;

 private:
  const InstanceView& view_;
};

}  // namespace ingot::services_control
