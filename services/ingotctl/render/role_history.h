// Describes in words what changed between one status and the next: deaths, stops, restarts, and moves of roles.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot::inline services_ingotctl_render {

namespace control_v1 = ::ingot::control::v1;

// Not thread-safe.
class RoleHistory {
 public:
  using Clock = std::chrono::system_clock;

  // Compares the status at `now` with the one before. The first status is only remembered.
  void observe(const control_v1::GetStatusResponse& status, Clock::time_point now);

  // The newest kLinesMax events, newest last, each with its time of day.
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  static constexpr std::size_t kLinesMax = 8;

  void observe_states(const control_v1::GetStatusResponse& status);
  void observe_role(control_v1::Role role, const control_v1::GetStatusResponse& status,
                    std::optional<Clock::time_point>& vacant_since);
  void observe_supervisor(const control_v1::GetStatusResponse& status);
  void observe_blocks(const control_v1::GetStatusResponse& status);
  void add(const std::string& what);

  std::optional<control_v1::GetStatusResponse> last_;
  Clock::time_point now_;
  std::optional<Clock::time_point> no_leader_since_;
  std::optional<Clock::time_point> no_acceptor_since_;
  std::deque<std::string> lines_;
};

}  // namespace ingot::services_ingotctl_render
