// A status that is redrawn in place on a terminal.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "proto/ingot/control/v1/control.pb.h"
#include "services/cli/terminal.h"
#include "services/ingotctl/render/role_history.h"

namespace ingot::inline services_ingotctl_render {

// Not thread-safe.
class StatusScreen {
 public:
  using Clock = std::chrono::steady_clock;

  // The whole screen as text with ANSI control sequences, on no more rows and columns than the terminal has: the
  // instance, the replicas, what they wait for, and the latest events. Table columns that do not fit are left out, the
  // less important first. Replicas that do not fit are shown page by page, each for kPageTime; a page is turned by the
  // next drawing. The leader is bold, and each replica in reverse video whose state, role or incarnation changed within
  // the last kHighlight; without styles, such a replica has a star before it. REQUIRES: terminal.redraws.
  std::string draw(const ::ingot::control::v1::GetStatusResponse& status, const Terminal& terminal,
                   Clock::time_point now);

 private:
  static constexpr std::chrono::seconds kHighlight{3};
  static constexpr std::chrono::seconds kPageTime{5};
  static constexpr std::size_t kEventsMin = 3;  // events that are shown even if replicas must be paged for them

  struct Seen {
    std::string part;  // state, role and incarnation
    Clock::time_point changed_at;
  };
  bool changed_lately(const ::ingot::control::v1::Replica& replica, Clock::time_point now);
  std::string replica_line(const ::ingot::control::v1::Replica& replica, const std::string& text,
                           const Terminal& terminal, Clock::time_point now);
  // Of `rows`, those of the present page, and a line that says which they are; all of them if they fit into `room`.
  std::vector<std::string> page_of(std::vector<std::string> rows, std::size_t room, const Terminal& terminal,
                                   Clock::time_point now);

  std::map<std::uint32_t, Seen> seen_;  // by replica
  RoleHistory history_;
  std::size_t page_ = 0;
  Clock::time_point turned_at_;  // when `page_` became the present page
};

}  // namespace ingot::services_ingotctl_render
