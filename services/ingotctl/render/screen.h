// A status that is redrawn in place on a terminal.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "proto/ingot/control/v1/control.pb.h"
#include "services/ingotctl/render/role_history.h"

namespace ingot {

// Not thread-safe.
class StatusScreen {
 public:
  // The whole screen as text with ANSI control sequences: the leader in bold, each replica in reverse video whose
  // state, role or incarnation changed within the last kHighlight, and below them the latest events.
  std::string draw(const ::ingot::control::v1::GetStatusResponse& status);

 private:
  static constexpr std::chrono::seconds kHighlight{3};

  struct Seen {
    std::string part;  // state, role and incarnation
    std::chrono::steady_clock::time_point changed_at;
  };
  bool changed_lately(const ::ingot::control::v1::Replica& replica);

  std::map<std::uint32_t, Seen> seen_;  // by replica
  RoleHistory history_;
};

}  // namespace ingot
