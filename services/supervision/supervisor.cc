#include "services/supervision/supervisor.h"

#include <signal.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/cli/duration.h"
#include "services/launch/limits.h"
#include "services/log/log.h"
#include "services/sockets/service_manager.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

Supervisor::Supervisor(Instance& instance) : instance_(instance) {}

absl::Status Supervisor::run() {
  watch_stop_signals();
  for (const std::string& each : instance_.warnings()) log_warning(each);
  if (!instance_.restored().empty()) log_info(instance_.restored());
  if (const std::int64_t since_unix_ms = instance_.lost_former_unix_ms(); since_unix_ms != 0) {
    log_warning(describe_lost_former(instance_.config().name, since_unix_ms));
  }
  if (auto status = start_replicas(); !status.ok()) stop(status);
  return run_loop();
}

absl::Status Supervisor::run_attached(std::vector<Orphan> orphans, std::int64_t orphan_ms) {
  watch_stop_signals();  // before it says that it is serving
  for (const std::string& each : instance_.warnings()) log_warning(each);
  adopt(std::move(orphans), orphan_ms);
  return run_loop();
}

absl::Status Supervisor::run_loop() {
  children_.watch();
  if (children_.any_running()) io_.run();
  if (outcome_.ok()) instance_.remove_trace();
  return outcome_;
}

absl::Status Supervisor::start_replicas() {
  const DaemonConfig& config = instance_.config();
  if (config.isolation == Isolation::kThread) return children_.start(ChildRole::all_replicas(config.replicas));
  for (int id = 0; id < config.replicas; ++id) {
    if (auto status = children_.start(ChildRole::replica(id)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void Supervisor::child_ready(Child& child) {
  if (phase_ >= Phase::kServing) {
    if (child.role.endpoint >= 0) restarts_.ready(child);
    if (child.role.front_end()) front_end_watch_.answered();
    if (child.role.is_publisher()) publisher_.answered();
    if (child.role.front_end() && !serving_logged_) log_serving();
    if (children_.all_ready()) prepare_standby();
    return;
  }
  if (!children_.all_ready()) return;
  if (phase_ == Phase::kReplicasStart) {
    phase_ = Phase::kFrontEndStarts;
    if (auto status = children_.start(ChildRole::front_end(instance_.config().replicas)); !status.ok()) stop(status);
  } else {
    begin_service();
    prepare_standby();
    log_serving();
    publisher_.begin();
  }
}

void Supervisor::begin_service() {
  phase_ = Phase::kServing;
  front_end_watch_.start(instance_.config().front_end_timeout_ms);
  if (auto status = revision_timer_.start(); !status.ok()) {
    log_warning(absl::StrCat("there is no automatic compaction: ", std::string(status.message())));
  }
  keep_trace();
}

void Supervisor::keep_trace() {
  instance_.touch_trace();
  trace_timer_.expires_after(std::chrono::milliseconds(kTraceTouchMs));
  trace_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) keep_trace();
  });
}

void Supervisor::child_answered(Child& child) {
  if (child.role.front_end()) front_end_watch_.answered();
  if (child.role.is_publisher()) publisher_.answered();
}

void Supervisor::adopt(std::vector<Orphan> orphans, std::int64_t orphan_ms) {
  begin_service();
  const DaemonConfig& config = instance_.config();
  std::vector<std::string> stopped;
  int replicas = 0;
  for (Orphan& orphan : orphans) {
    const ChildRole role = role_of(orphan.child, config);
    if (!orphan.answered) stopped.push_back(absl::StrCat(role.label, " (pid ", orphan.pid, ")"));
    replicas += static_cast<int>(role.replicas.size());
    children_.adopt(role, std::move(orphan));
  }
  children_.tell_all();
  instance_.publish_snapshot();  // the former supervisor may have died before it did
  children_.tell_all();
  const bool front_end = children_.running(kFrontEndLabel) != nullptr;
  const auto silent = absl::StrJoin(stopped, ", ");
  log_info(absl::StrCat("attached to ", config.name, ": ", replicas, " replicas, ",
                        front_end ? "front end" : "no front end", "; was without a supervisor for ",
                        format_duration(std::chrono::milliseconds(orphan_ms)),
                        stopped.empty() ? "" : "; does not answer yet: ", silent));
  start_missing();
  if (front_end && phase_ == Phase::kServing) log_serving();
  prepare_standby();
}

// Not while a restart is delayed for a failover: dynamic linking of the standby process would take CPU time from the
// failover (docs/design/failover-timing.md). child_ready() calls again once the delayed process is ready.
void Supervisor::prepare_standby() {
  if (phase_ == Phase::kServing && !restarts_.any_waits_for_others()) children_.prepare_standby();
}

void Supervisor::start_missing() {
  const int replicas = instance_.config().replicas;
  if (instance_.config().isolation == Isolation::kThread) {
    if (children_.running(kAllReplicasLabel) == nullptr) {
      return stop(
          absl::InternalError("the replicas' process is gone, and the state with it: replicas that are threads of "
                              "one process die together"));
    }
  } else {
    for (int id = 0; id < replicas; ++id) start_if_missing(ChildRole::replica(id));
  }
  start_if_missing(ChildRole::front_end(replicas));
  publisher_.begin();
}

void Supervisor::start_if_missing(const ChildRole& role) {
  if (children_.running(role.label) != nullptr) return;
  children_.note_missing(role);
  restarts_.missing(role, "died while there was no supervisor");
}

// A failure of a first start ends the instance, so that the operator learns at once that it cannot work.
bool Supervisor::starts_for_the_first_time(const Child& child) const {
  return phase_ == Phase::kReplicasStart || (phase_ == Phase::kFrontEndStarts && child.role.front_end());
}

void Supervisor::child_failed(Child& child, const absl::Status& why) {
  if (starts_for_the_first_time(child)) {
    stop(why);
  } else if (child.role.endpoint >= 0) {
    restarts_.failed(child, why);
  }
}

// Every running process keeps the snapshot, too, so that it outlives the supervisor. Only after it has been sent to
// each whose channel has room may the replicas trim what it covers, which publish_snapshot() allows. To wait for the
// others, which are stopped, would let the segments fill up.
void Supervisor::child_published(Child&, const supervision_v1::Snapshot& published, Descriptor snapshot) {
  if (!instance_.hold_snapshot(Slot(published.slot()), std::move(snapshot))) return;
  children_.tell_all();
  instance_.publish_snapshot();
  children_.tell_all();  // which segments were released
}

void Supervisor::child_ended(Child& child, const std::string& how) {
  react_to_end(child, how);
  if (phase_ == Phase::kStopping && !children_.any_running()) io_.stop();
}

void Supervisor::react_to_end(Child& child, const std::string& how) {
  if (phase_ == Phase::kStopping) return;  // expected
  const std::string what = absl::StrCat(child.name(), " ", how);
  if (phase_ == Phase::kDraining) {
    if (child.role.front_end()) return stop(absl::OkStatus());
    log_warning(absl::StrCat(what, "; it is not started again, since the instance ends"));
  } else if (starts_for_the_first_time(child)) {
    stop(absl::InternalError(what));
  } else if (child.role.endpoint < 0) {
    stop(absl::InternalError(absl::StrCat(
        what, ", and the state is gone with it: replicas that are threads of one process die together")));
  } else {
    restarts_.died(child, how);
  }
}

void Supervisor::log_serving() {
  serving_logged_ = true;
  if (const absl::Status status = instance_.leave_trace(); !status.ok()) log_warning(std::string(status.message()));
  const DaemonConfig& config = instance_.config();
  const std::string metrics =
      config.metrics_listen.empty() ? "off" : absl::StrCat("http://", config.metrics_listen, "/metrics");
  log_info(absl::StrCat("serving ", config.name, ": ", config.replicas, " replicas (", name_of(config.agreement), ", ",
                        name_of(config.transport), ", ", name_of(config.isolation),
                        " isolation), etcd v3 and control API on ", config.listen, ", metrics ", metrics,
                        config.socket.empty() ? "" : ", Unix socket ", config.socket));
  tell_service_manager("READY=1");
}

void Supervisor::watch_stop_signals() {
  stop_signals_.add(SIGTERM);
  stop_signals_.add(SIGINT);
  stop_signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) drain();
  });
}

// The front end answers the requests in flight and refuses new ones; its end then stops the replicas.
void Supervisor::drain() {
  Child* front_end = children_.running(kFrontEndLabel);
  if (phase_ != Phase::kServing || front_end == nullptr) return stop(absl::OkStatus());
  phase_ = Phase::kDraining;
  tell_service_manager("STOPPING=1");
  instance_.refuse_connections();
  restarts_.cancel();
  front_end_watch_.cancel();
  publisher_.cancel();
  front_end->post(drain_message());
  kill_after_deadline();
}

// Tells all children to leave, and continues stopped ones so that they can.
void Supervisor::stop(absl::Status why) {
  if (phase_ == Phase::kStopping) return;
  if (phase_ != Phase::kDraining) tell_service_manager("STOPPING=1");
  phase_ = Phase::kStopping;
  outcome_ = std::move(why);
  restarts_.cancel();
  front_end_watch_.cancel();
  publisher_.cancel();
  children_.for_each_running([](Child& child) {
    child.post(leave_message());
    child.signal(SIGCONT);
  });
  if (!children_.any_running()) io_.stop();
  kill_after_deadline();
}

void Supervisor::kill_after_deadline() {
  deadline_.expires_after(std::chrono::milliseconds(kDrainTimeoutMs));
  deadline_.async_wait([this](const boost::system::error_code& error) {
    if (!error) children_.for_each_running([](Child& child) { child.signal(SIGKILL); });
  });
}

}  // namespace ingot::services_supervision
