#include "services/ingotctl/render/role_history.h"

#include <cstdio>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/ingotctl/move_watch.h"
#include "services/ingotctl/render/status.h"

namespace ingot::inline services_ingotctl_render {

namespace {

using control_v1::Replica;

std::string time_of_day(RoleHistory::Clock::time_point at) {
  const std::time_t seconds = RoleHistory::Clock::to_time_t(at);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count() % 1000;
  std::tm day{};
  ::localtime_r(&seconds, &day);
  char text[32];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d.%03d", day.tm_hour, day.tm_min, day.tm_sec, static_cast<int>(ms));
  return text;
}

std::string state_event(const Replica& before, const Replica& now) {
  const std::string who = absl::StrCat("replica ", now.id());
  switch (now.state()) {
    case control_v1::STATE_DEAD:
      return absl::StrCat(who, " (pid ", before.pid(), ", incarnation ", before.incarnation(), ") died");
    case control_v1::STATE_STOPPED:
      return absl::StrCat(who, " is stopped");
    case control_v1::STATE_STARTING:
      return absl::StrCat(who, " starts: incarnation ", now.incarnation(), ", pid ", now.pid());
    default:
      break;
  }
  const bool same_incarnation = before.incarnation() == now.incarnation();
  if (same_incarnation && before.state() == control_v1::STATE_STOPPED) return absl::StrCat(who, " goes on");
  return absl::StrCat(who, " is up: incarnation ", now.incarnation(), ", pid ", now.pid());
}

}  // namespace

void RoleHistory::observe(const control_v1::GetStatusResponse& status, Clock::time_point now) {
  now_ = now;
  if (last_ && last_->replicas_size() == status.replicas_size()) {
    observe_states(status);
    observe_role(control_v1::ROLE_LEADER, status, no_leader_since_);
    observe_role(control_v1::ROLE_ACCEPTOR, status, no_acceptor_since_);
    observe_supervisor(status);
    observe_blocks(status);
  }
  last_ = status;
}

void RoleHistory::observe_states(const control_v1::GetStatusResponse& status) {
  for (int id = 0; id < status.replicas_size(); ++id) {
    const Replica& before = last_->replicas(id);
    const Replica& now = status.replicas(id);
    if (before.state() != now.state() || before.incarnation() != now.incarnation()) add(state_event(before, now));
  }
}

void RoleHistory::observe_role(control_v1::Role role, const control_v1::GetStatusResponse& status,
                               std::optional<Clock::time_point>& vacant_since) {
  const Replica* before = holder_of(role, *last_);
  const Replica* now = holder_of(role, status);
  const bool leads = role == control_v1::ROLE_LEADER;
  if (before != nullptr && now == nullptr) {
    vacant_since = now_;
    return add(leads ? "nobody leads" : "nobody is the acceptor");
  }
  if (now == nullptr) return;
  const auto vacant = std::exchange(vacant_since, std::nullopt);
  if (!vacant && before != nullptr && before->id() == now->id() && before->incarnation() == now->incarnation()) return;
  std::string text = absl::StrCat("replica ", now->id(), leads ? " leads" : " is the acceptor", ": epoch ",
                                  now->epoch(), ", ballot ", now->ballot());
  if (vacant) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - *vacant).count();
    absl::StrAppend(&text, ", after ", ms, " ms with nobody");
  }
  add(text);
}

void RoleHistory::observe_supervisor(const control_v1::GetStatusResponse& status) {
  const control_v1::State now = status.supervisor().state();
  if (now == last_->supervisor().state()) return;
  add(now == control_v1::STATE_DEAD      ? "the supervisor died"
      : now == control_v1::STATE_STOPPED ? "the supervisor is stopped"
                                         : "a supervisor runs");
}

void RoleHistory::observe_blocks(const control_v1::GetStatusResponse& status) {
  const auto cause = [](const control_v1::GetStatusResponse& of) {
    return absl::StrCat(of.has_blocked(), absl::StrJoin(of.blocked().waits_for(), ","), of.blocked().why());
  };
  const bool same = cause(*last_) == cause(status);
  if (same) return;
  add(status.has_blocked() ? blocked_text(status.blocked(), status.blocked().why()) : "no longer blocked");
}

void RoleHistory::add(const std::string& what) {
  lines_.push_back(absl::StrCat(time_of_day(now_), "  ", what));
  if (lines_.size() > kLinesMax) lines_.pop_front();
}

}  // namespace ingot::services_ingotctl_render
