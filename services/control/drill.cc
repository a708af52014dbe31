#include "services/control/drill.h"

#include <signal.h>

#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/enum_names.h"
#include "replication/agreement/registry.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_control {

namespace {

using control_v1::DrillRequest;
using control_v1::Hit;
using control_v1::Replica;
using Condition = absl::FunctionRef<ProcessCondition(const Hit&)>;

template <typename... Parts>
absl::Status not_now(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}

std::string label_of(const Hit& target) {
  switch (target.process()) {
    case Hit::PROCESS_FRONT_END:
      return "the front end";
    case Hit::PROCESS_SUPERVISOR:
      return "the supervisor";
    default:
      break;
  }
  const char* role = target.role() == control_v1::ROLE_LEADER     ? ", the leader,"
                     : target.role() == control_v1::ROLE_ACCEPTOR ? ", the acceptor,"
                                                               : "";
  return absl::StrCat("replica ", target.replica(), role);
}

// Refuses a signal that would change nothing.
absl::Status check_condition(DrillRequest::Action action, const Hit& target, Condition condition) {
  const ProcessCondition now = condition(target);
  if (now == ProcessCondition::kGone) return not_now(label_of(target), " is dead");
  const bool stopped = now == ProcessCondition::kStopped;
  if (action == DrillRequest::ACTION_STOP && stopped) return not_now(label_of(target), " is stopped already");
  if (action == DrillRequest::ACTION_CONT && !stopped) return not_now(label_of(target), " is not stopped");
  return absl::OkStatus();
}

Hit target_of(const Replica& replica) {
  Hit target;
  target.set_process(Hit::PROCESS_REPLICA);
  target.set_replica(replica.id());
  target.set_pid(replica.pid());
  target.set_incarnation(replica.incarnation());
  target.set_role(replica.role());
  return target;
}

Hit target_of(Hit::Process process, std::uint32_t pid) {
  Hit target;
  target.set_process(process);
  target.set_pid(pid);
  return target;
}

// Several replicas may claim a role, since a stopped one has not heard that it lost it. The holder is the running
// replica in the newest configuration or, for CONT, the stopped one.
absl::StatusOr<Hit> holder_of(control_v1::Role role, DrillRequest::Action action,
                              const control_v1::GetStatusResponse& status, Condition condition) {
  const ProcessCondition wanted =
      action == DrillRequest::ACTION_CONT ? ProcessCondition::kStopped : ProcessCondition::kRunning;
  const Replica* best = nullptr;
  std::tuple<bool, std::uint64_t, std::uint64_t> best_rank;
  for (const Replica& replica : status.replicas()) {
    if (replica.role() != role) continue;
    const ProcessCondition now = condition(target_of(replica));
    if (now == ProcessCondition::kGone) continue;
    const std::tuple rank(now == wanted, replica.epoch(), replica.ballot());
    if (best != nullptr && rank <= best_rank) continue;
    best = &replica;
    best_rank = rank;
  }
  if (best != nullptr) return target_of(*best);
  if (role == control_v1::ROLE_LEADER) return not_now("nobody leads now");
  if (!traits_of(status.instance().agreement()).has_acceptor) {
    return not_now("with ", status.instance().agreement(), " nobody is the acceptor");
  }
  return not_now("nobody is the acceptor now");
}

absl::StatusOr<Hit> replica_named(std::uint32_t id, const control_v1::GetStatusResponse& status) {
  const auto replicas = static_cast<std::uint32_t>(status.replicas_size());
  if (id < replicas) return target_of(status.replicas(static_cast<int>(id)));
  return absl::InvalidArgumentError(absl::StrCat("there is no replica ", id, "; replicas are 0 to ", replicas - 1));
}

// The processes that the request's target names, dead or alive.
absl::StatusOr<std::vector<Hit>> targets_of(const DrillRequest& request, const control_v1::GetStatusResponse& status,
                                            Condition condition) {
  const bool process = request.target() == DrillRequest::TARGET_FRONT_END ||
                       request.target() == DrillRequest::TARGET_SUPERVISOR;
  if (process && status.instance().backend() == name_of(Backend::kScc)) {
    return not_now("on the simulated chip drills hit cores: name the leader, the acceptor, both or a replica");
  }
  std::vector<absl::StatusOr<Hit>> found;
  switch (request.target()) {
    case DrillRequest::TARGET_FRONT_END:
      return std::vector{target_of(Hit::PROCESS_FRONT_END, status.front_end().pid())};
    case DrillRequest::TARGET_SUPERVISOR:
      return std::vector{target_of(Hit::PROCESS_SUPERVISOR, status.instance().supervisor_pid())};
    case DrillRequest::TARGET_REPLICA:
      found.push_back(replica_named(request.replica(), status));
      break;
    case DrillRequest::TARGET_LEADER:
    case DrillRequest::TARGET_ACCEPTOR:
    case DrillRequest::TARGET_BOTH:
      if (request.target() != DrillRequest::TARGET_ACCEPTOR) {
        found.push_back(holder_of(control_v1::ROLE_LEADER, request.action(), status, condition));
      }
      if (request.target() != DrillRequest::TARGET_LEADER) {
        found.push_back(holder_of(control_v1::ROLE_ACCEPTOR, request.action(), status, condition));
      }
      break;
    default:
      return absl::InvalidArgumentError(
          "a drill's target is the leader, the acceptor, both, a replica, the front end or the supervisor");
  }
  std::vector<Hit> hits;
  for (const auto& each : found) {
    if (!each.ok()) return each.status();
    hits.push_back(*each);
  }
  if (status.instance().isolation() == name_of(Isolation::kThread)) {
    return not_now(
        "replicas are threads of one process here (--isolation=thread): none can be killed or stopped alone");
  }
  return hits;
}

}  // namespace

absl::StatusOr<std::vector<Hit>> choose_targets(const DrillRequest& request,
                                                const control_v1::GetStatusResponse& status, Condition condition) {
  if (request.action() < DrillRequest::ACTION_KILL || request.action() > DrillRequest::ACTION_CONT) {
    return absl::InvalidArgumentError("a drill kills, stops or continues; say which");
  }
  if (request.wait() && request.target() == DrillRequest::TARGET_FRONT_END) {
    return absl::InvalidArgumentError("the front end is what measures, so it cannot measure its own end");
  }
  auto hits = targets_of(request, status, condition);
  if (!hits.ok()) return hits.status();
  for (const Hit& target : *hits) {
    if (auto checked = check_condition(request.action(), target, condition); !checked.ok()) return checked;
  }
  return hits;
}

int signal_of(DrillRequest::Action action) {
  switch (action) {
    case DrillRequest::ACTION_KILL:
      return SIGKILL;
    case DrillRequest::ACTION_STOP:
      return SIGSTOP;
    case DrillRequest::ACTION_CONT:
      return SIGCONT;
    default:
      INGOT_CHECK(false, "a drill without an action");
  }
}

ProcessCondition SignalFaultInjector::condition(const Hit& target) const {
  return condition_of(static_cast<pid_t>(target.pid()));
}

absl::Status SignalFaultInjector::inject(const Hit& target, DrillRequest::Action action) {
  const int signal = signal_of(action);
  const DaemonPage& page = *view_.daemon;
  if (target.process() == Hit::PROCESS_REPLICA)
    return send_signal(page.replicas[target.replica()], target.incarnation(), signal);
  const Counter& started =
      target.process() == Hit::PROCESS_FRONT_END ? page.front_end.started : page.supervisor_started;
  return send_signal(static_cast<pid_t>(target.pid()), started.get(), signal);
}

}  // namespace ingot::services_control
