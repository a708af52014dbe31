// Runs `ingotctl drill` and `ingotctl move`.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "proto/ingot/control/v1/control.pb.h"
#include "services/ingotctl/options.h"

namespace ingot {

struct DrillArguments {
  std::string action;  // kill | stop | cont
  std::string target;  // leader | acceptor | both | replica=N | front-end | supervisor
  bool wait = false;
};
// Prints the targets and, with --wait, how long no write was committed. Never waits for a target.
absl::Status run_drill(const CtlOptions& options, const DrillArguments& arguments);

struct MoveArguments {
  std::string role;  // leader | acceptor
  int to = 0;
  bool wait = true;
};
// Unless told not to wait, prints the final holder of the role; an error if that is another replica, or none in time.
absl::Status run_move(const CtlOptions& options, const MoveArguments& arguments);

// The target that `text` names; nothing if there is no such target.
std::optional<::ingot::control::v1::DrillRequest> parse_target(const std::string& text);

}  // namespace ingot
