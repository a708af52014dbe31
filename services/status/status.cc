#include "services/status/status.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/replica_set.h"
#include "replication/pages/page_access.h"
#include "replication/pages/page_status.h"
#include "replication/replica/trees/plan.h"
#include "services/config/daemon_settings.h"
#include "services/config/kept_segments.h"
#include "services/status/roles.h"
#include "services/status/supervision.h"

namespace ingot::inline services_status {
namespace {

using google::protobuf::util::TimeUtil;

// Only a running replica has a role: a page keeps the last role of a process that died.
control_v1::Role role_of(const ReplicaPage& page, control_v1::State state) {
  if (state != control_v1::STATE_UP && state != control_v1::STATE_STOPPED) return control_v1::ROLE_REPLICA;
  return to_control(static_cast<Role>(page[ReplicaCounter::kRole].get()));
}

void fill_settings(const DaemonConfig& config, control_v1::Instance& instance) {
  visit_settings(config, [&](const auto& setting) {
    if (!setting.has(settings::kStatus)) return;
    const auto* field = control_v1::Instance::descriptor()->FindFieldByName(setting.key);
    INGOT_CHECK(field != nullptr, "every setting that the status shows has its field");
    instance.GetReflection()->SetString(&instance, field, setting_text(setting, config));
  });
}

void fill_instance(const DaemonConfig& config, const DaemonPage& page, std::int64_t now_unix_ms,
                   control_v1::Instance& instance) {
  fill_settings(config, instance);
  instance.set_version(kIngotVersion);
  const std::int64_t uptime_ms =
      std::max<std::int64_t>(0, now_unix_ms - static_cast<std::int64_t>(page.start_unix_ms.get()));
  *instance.mutable_uptime() = TimeUtil::MillisecondsToDuration(uptime_ms);
  instance.set_supervisor_pid(static_cast<std::uint32_t>(supervisor_of(page).pid));
  instance.set_lost_former_unix_ms(static_cast<std::int64_t>(page.lost_former_unix_ms.get()));
}

void fill_process(const ProcessEntry& entry, control_v1::State state, control_v1::Replica& replica) {
  replica.set_state(state);
  replica.set_pid(state == control_v1::STATE_DEAD ? 0 : static_cast<std::uint32_t>(entry.pid.get()));
  replica.set_incarnation(static_cast<std::uint32_t>(entry.incarnation.get()));
  replica.set_core(static_cast<std::uint32_t>(entry.core.get()));
}

void fill_progress(const ReplicaPage& page, control_v1::Replica& replica) {
  replica.set_role(role_of(page, replica.state()));
  replica.set_epoch(page[ReplicaCounter::kEpoch].get());
  replica.set_ballot(page[ReplicaCounter::kBallot].get());
  const Progress progress = progress_in(page);
  replica.set_applied(progress.applied.value());
  replica.set_decided(progress.decided.value());
  replica.set_proposed(page[ReplicaCounter::kProposedSlots].get());
}

// Takes the role from all that claim it but the one in the newest configuration.
void settle_role(control_v1::Role role, control_v1::GetStatusResponse& status) {
  const auto rank = [](const control_v1::Replica& of) {
    return std::tuple(of.epoch(), of.ballot(), of.state() == control_v1::STATE_UP);
  };
  control_v1::Replica* holder = nullptr;
  for (control_v1::Replica& replica : *status.mutable_replicas()) {
    if (replica.role() != role) continue;
    control_v1::Replica* const former = holder;
    if (holder == nullptr || rank(replica) > rank(*holder)) holder = &replica;
    if (former != nullptr) (holder == former ? replica : *former).set_role(control_v1::ROLE_REPLICA);
  }
}

void fill_lags(control_v1::GetStatusResponse& status) {
  std::uint64_t decided = 0;
  for (const auto& replica : status.replicas()) decided = std::max(decided, replica.decided());
  for (auto& replica : *status.mutable_replicas())
    replica.set_lag(decided - std::min(decided, replica.applied()));
}

// A replica that is itself what is waited for, as a new incarnation in 2PC, is left out.
void describe(EndpointId reporter, const AgreementStatus& status, control_v1::Blocked& blocked) {
  blocked.clear_waits_for();
  blocked.clear_by();
  for (const EndpointId each : status.blocked_by - ReplicaSet::of(reporter)) blocked.add_waits_for(each.value());
  if (blocked.waits_for_size() > 0) blocked.set_by(blocked.waits_for(0));
  blocked.set_why(std::string(text_of(status.why)));
  blocked.set_details(describe_blocked(status));
  *blocked.mutable_duration() = TimeUtil::MillisecondsToDuration(static_cast<std::int64_t>(status.blocked_ms));
}

void note_blocked(const ReplicaPage& page, const control_v1::Replica& replica, std::uint64_t now_ns,
                  control_v1::GetStatusResponse& status) {
  const AgreementStatus own = blocked_status(page, now_ns);
  if (replica.state() != control_v1::STATE_UP || !own.blocked) return;
  control_v1::Blocked& blocked = *status.mutable_blocked();
  const EndpointId reporter(static_cast<std::uint16_t>(replica.id()));
  const bool first = blocked.reported_by_size() == 0;
  // A report that names others takes precedence over one of the same cause that names none, and the leader's over all.
  const bool names_more = blocked.waits_for_size() == 0 && blocked.why() == text_of(own.why);
  if (first || names_more || replica.role() == control_v1::ROLE_LEADER) describe(reporter, own, blocked);
  blocked.add_reported_by(replica.id());
}

const char* text_of(control_v1::State state) {
  if (state == control_v1::STATE_STARTING) return "starting";
  return state == control_v1::STATE_STOPPED ? "stopped" : "dead";
}

// No page can say it if no replica runs.
void note_standstill(control_v1::GetStatusResponse& status) {
  for (const auto& replica : status.replicas()) {
    if (replica.state() == control_v1::STATE_UP || replica.state() == control_v1::STATE_STARTING) return;
  }
  status.mutable_blocked()->set_why(std::string(kNoReplicaRuns));
  status.mutable_blocked()->set_details(no_replica_runs());
}

// Adds the voters that are not up, as the details of a replica's report know silence only: "not up: 0 (stopped)".
void name_missing(control_v1::GetStatusResponse& status) {
  if (!status.has_blocked()) return;
  control_v1::Blocked& blocked = *status.mutable_blocked();
  std::string missing;
  for (const auto& replica : status.replicas()) {
    const bool named = std::count(blocked.waits_for().begin(), blocked.waits_for().end(), replica.id()) > 0;
    if (replica.state() == control_v1::STATE_UP || !(replica.voter() || named)) continue;
    absl::StrAppend(&missing, missing.empty() ? "; not up: " : ", ", replica.id(), " (", text_of(replica.state()), ")");
  }
  blocked.set_details(blocked.details() + missing);
}

// Writes wait while more is kept of ended incarnations than may be.
void note_kept_segments(const DaemonConfig& config, const DaemonPage& page, control_v1::GetStatusResponse& status) {
  const KeptSummary known = kept_in(page);
  if (known.state != KeptSegments::kFull) return;
  control_v1::KeptSegments& kept = *status.mutable_kept_segments();
  kept.set_segments(static_cast<std::uint32_t>(known.segments));
  kept.set_bytes(known.bytes);
  kept.set_why(describe_kept_full(known, config.kept_segments_mib));
}

void fill_store(const InstanceView& view, control_v1::Store& store) {
  const auto applied = [](const ReplicaPage* page) { return (*page)[ReplicaCounter::kAppliedSlots].get(); };
  const ReplicaPage& newest =
      **std::max_element(view.replicas.begin(), view.replicas.end(),
                         [&](const auto* a, const auto* b) { return applied(a) < applied(b); });
  store.set_live_bytes(newest[ReplicaCounter::kStoreLiveBytes].get());
  store.set_history_bytes(newest[ReplicaCounter::kStoreHistoryBytes].get());
  store.set_quota_bytes(newest[ReplicaCounter::kStoreQuotaBytes].get());
  store.set_no_space(newest[ReplicaCounter::kStoreNoSpace].get() != 0);
}

const ReplicaPage& newest_tree(const InstanceView& view) {
  const auto version = [](const ReplicaPage* page) { return (*page)[ReplicaCounter::kTreeVersion].get(); };
  return **std::max_element(view.replicas.begin(), view.replicas.end(),
                            [&](const auto* a, const auto* b) { return version(a) < version(b); });
}

// Read from the pages, so just after a change the replicas may show different versions. A bypassed replica may not run,
// so the other replicas report it.
void fill_tree(const InstanceView& view, control_v1::Tree& tree) {
  const ReplicaPage& newest = newest_tree(view);
  const auto bypassed = ReplicaSet::from_bits(newest[ReplicaCounter::kTreeBypassed].get());
  tree.set_version(newest[ReplicaCounter::kTreeVersion].get());
  tree.set_reason(name_of(static_cast<TreeReason>(newest[ReplicaCounter::kTreeReason].get())));
  tree.set_root(static_cast<std::uint32_t>(newest[ReplicaCounter::kAcceptor].get()));
  for (std::size_t id = 0; id < view.replicas.size(); ++id) {
    const ReplicaPage& page = *view.replicas[id];
    control_v1::TreeNode& node = *tree.add_nodes();
    const bool apart = bypassed.contains(static_cast<int>(id));
    node.set_replica(static_cast<std::uint32_t>(id));
    node.set_parent(apart ? tree.root() : static_cast<std::uint32_t>(page[ReplicaCounter::kTreeParent].get()));
    node.set_bypassed(apart);
    node.set_version(page[ReplicaCounter::kTreeVersion].get());
  }
  for (const auto& node : tree.nodes()) {
    if (node.parent() == node.replica() || node.parent() >= view.replicas.size()) continue;
    tree.mutable_nodes(static_cast<int>(node.parent()))->add_children(node.replica());
  }
}

std::uint64_t steady_now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

bool is_ready(const ProcessEntry& entry, std::uint64_t ready_incarnation) {
  return ready_incarnation != 0 && ready_incarnation == entry.incarnation.get();
}

control_v1::State state_of(ProcessState state, bool ready) {
  switch (state) {
    case ProcessState::kStopped:
      return control_v1::STATE_STOPPED;
    case ProcessState::kDead:
      return control_v1::STATE_DEAD;
    case ProcessState::kStarting:
    case ProcessState::kUp:
      break;
  }
  return ready ? control_v1::STATE_UP : control_v1::STATE_STARTING;
}

// False: no supervisor keeps the states on the page up to date.
bool fill_supervisor(const DaemonConfig& config, const InstanceView& view, control_v1::GetStatusResponse& status) {
  const auto supervisor = read_supervisor(config, view, steady_now_ns());
  if (supervisor) *status.mutable_supervisor() = *supervisor;
  return !supervisor || supervisor->state() == control_v1::STATE_UP;
}

void clear_uptime(control_v1::GetStatusResponse& status) { status.mutable_instance()->clear_uptime(); }

}  // namespace

control_v1::State state_of(const ProcessEntry& entry, std::uint64_t ready_incarnation) {
  return state_of(static_cast<ProcessState>(entry.state.get()), is_ready(entry, ready_incarnation));
}

control_v1::GetStatusResponse read_status(const DaemonConfig& config, const InstanceView& view,
                                          std::int64_t now_unix_ms, ShownRoles roles) {
  control_v1::GetStatusResponse status;
  fill_instance(config, *view.daemon, now_unix_ms, *status.mutable_instance());
  const bool noted = fill_supervisor(config, view, status);
  // The chip's clock is not this machine's: with it, the status has no blocked duration.
  const std::uint64_t now_ns = config.backend == Backend::kScc ? 0 : steady_now_ns();
  for (std::size_t id = 0; id < view.replicas.size(); ++id) {
    const ProcessEntry& entry = view.daemon->replicas[id];
    const ReplicaPage& page = *view.replicas[id];
    control_v1::Replica& replica = *status.add_replicas();
    replica.set_id(static_cast<std::uint32_t>(id));
    replica.set_voter(static_cast<int>(id) < config.voters);
    // The acquire pairs with the release store by a replica that has become ready.
    const std::uint64_t ready = page.incarnation.get_acquire();
    fill_process(entry, noted ? state_of(entry, ready) : state_of(state_in_kernel(entry), is_ready(entry, ready)),
                 replica);
    fill_progress(page, replica);
    note_blocked(page, replica, now_ns, status);
  }
  if (roles == ShownRoles::kHeld) {
    settle_role(control_v1::ROLE_LEADER, status);
    settle_role(control_v1::ROLE_ACCEPTOR, status);
  }
  fill_lags(status);
  note_standstill(status);
  name_missing(status);
  note_kept_segments(config, *view.daemon, status);
  fill_store(view, *status.mutable_store());
  const TreePlan trees{.replicas = config.replicas, .voters = config.voters, .shape = config.tree};
  if (!is_plain_star(trees)) fill_tree(view, *status.mutable_tree());

  const ProcessEntry& front_end = view.daemon->front_end;
  status.mutable_front_end()->set_pid(static_cast<std::uint32_t>(process_in(front_end).pid));
  status.mutable_front_end()->set_core(static_cast<std::uint32_t>(front_end.core.get()));
  // The front end is ready, since it serves this status.
  status.mutable_front_end()->set_state(noted ? state_of(front_end, front_end.incarnation.get())
                                              : control_v1::STATE_UP);
  return status;
}

std::string fingerprint(const control_v1::GetStatusResponse& status) {
  control_v1::GetStatusResponse lasting = status;
  clear_uptime(lasting);
  for (auto& replica : *lasting.mutable_replicas()) {
    replica.clear_proposed();
    replica.clear_decided();
    replica.clear_applied();
    replica.clear_lag();
    replica.clear_digest();
  }
  lasting.mutable_store()->clear_live_bytes();
  lasting.mutable_store()->clear_history_bytes();
  if (lasting.has_supervisor()) {
    lasting.mutable_supervisor()->clear_down();
    lasting.mutable_supervisor()->clear_ends_in();
  }
  if (lasting.has_blocked()) {
    lasting.mutable_blocked()->clear_duration();
    lasting.mutable_blocked()->clear_details();
  }
  return lasting.SerializeAsString();
}

std::int64_t unix_now_ms() {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::system_clock;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace ingot::services_status
