#include "services/instance/instance.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/limits.h"
#include "core/planning/placement.h"
#include "core/planning/topology.h"
#include "replication/agreement/registry.h"
#include "replication/pages/page_access.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/limits.h"
#include "replication/stable/segment.h"
#include "services/backup/restore.h"
#include "services/cli/endpoint.h"
#include "services/config/auto_compaction.h"
#include "services/config/daemon_settings.h"
#include "services/config/limits.h"
#include "services/config/ranges.h"
#include "services/instance/default_quota.h"
#include "services/instance/instance_memory.h"
#include "services/instance/instance_name.h"
#include "services/instance/resource_limits.h"
#include "services/instance/tree_setup.h"
#include "services/launch/process_signal.h"
#include "services/sockets/socket_path.h"
#include "services/sockets/tcp_listener.h"
#include "transport/host/host_transport.h"
#include "transport/host/kernel_random.h"

namespace ingot::inline services_instance {

namespace {

// A new state is a new cluster, though it has the name of a former one: its revisions begin anew. Never 0, which etcd's
// clients take for "unknown".
std::uint64_t new_cluster_id() {
  return std::max<std::uint64_t>(1, draw_random_u64());
}

// FNV-1a; never 0, as above.
std::uint64_t id_from(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

absl::Status settle_voters(DaemonConfig& config) {
  if (config.voters == 0) config.voters = std::min(config.replicas, kVotersDefault);
  const int most = std::min(config.replicas, kVotersMax);
  if (config.voters < 1 || config.voters > most) {
    return absl::InvalidArgumentError(absl::StrCat("--voters=", config.voters, " is out of range; with --replicas=",
                                                   config.replicas, " give 1 to ", most));
  }
  return absl::OkStatus();
}

// A replica's loop has a core of its own if there are enough.
void settle_loops(DaemonConfig& config) {
  if (config.backend == Backend::kScc) config.front_end_loops = 1;  // it has no front end, and one loop serves
  if (config.front_end_loops != 0) return;
  const int free = static_cast<int>(cores_without({}).size()) - config.replicas;
  config.front_end_loops = std::clamp(free / 2, 1, kFrontEndLoopsByDefaultMax);
}

// Fixed at the instance's start: all replicas, and all of their incarnations, refuse the same put at the same slot.
void settle_quota(DaemonConfig& config) {
  std::int64_t& bytes = config.quota_backend_bytes;
  if (bytes == 0) bytes = default_quota_bytes(memory_limit_bytes(), config);
  bytes = std::max<std::int64_t>(bytes, kNoQuota);
}

}  // namespace

absl::StatusOr<Descriptor> complete(DaemonConfig& config) {
  if (auto status = check_ranges(config); !status.ok()) return status;
  if (auto status = settle_voters(config); !status.ok()) return status;
  if (auto status = check_tree_flags(config); !status.ok()) return status;
  if (config.fence && !traits_of(config.agreement).has_acceptor) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fence kills a stopped acceptor, and --agreement=", name_of(config.agreement),
                     " has no acceptor; leave one of the two out"));
  }
  if (config.fence && config.isolation == Isolation::kThread) {
    return absl::InvalidArgumentError("--fence kills processes, and with --isolation=thread all replicas are one; "
                                      "leave one of the two out");
  }
  if (auto wanted = parse_auto_compaction(config.auto_compaction_mode, config.auto_compaction_retention);
      !wanted.ok()) {
    return wanted.status();
  }
  settle_loops(config);
  settle_quota(config);
  if (auto status = check_limits(config); !status.ok()) return status;
  // The metrics' socket stays open until both ports are known: else the kernel may give the same free port twice.
  auto listen = claim_listen_address(config.listen, "--listen");
  if (!listen.ok()) return listen.status();
  if (!config.metrics_listen.empty()) {
    if (config.metrics_listen == config.listen) {
      return absl::InvalidArgumentError("--listen and --metrics-listen name the same address; give two ports");
    }
    auto metrics = claim_listen_address(config.metrics_listen, "--metrics-listen");
    if (!metrics.ok()) return metrics.status();
  }
  config.name = instance_name(config);
  config.cluster_id = new_cluster_id();
  config.member_id = id_from("member/" + config.name);
  return listen;
}

namespace {

constexpr const char* kNamesNoHost =
    ". The list of members tells clients this address, which other machines cannot dial: give "
    "--advertise-client-urls=http://HOST:PORT, too";

bool names_no_host(const DaemonConfig& config) {
  const auto address = parse_host_port(config.listen);
  const bool all = address.ok() && (address->host == "0.0.0.0" || address->host == "::");
  return all && config.advertise_client_urls.empty();
}

}  // namespace

std::string describe_exposure(const DaemonConfig& config, int listener) {
  if (is_loopback(listener)) return "";
  return absl::StrCat("ANYBODY who reaches ", config.listen, " can read and write all keys: there are no users and no ",
                      "encryption yet. Give --listen=127.0.0.1:PORT, or let a firewall choose who reaches it",
                      names_no_host(config) ? kNamesNoHost : "");
}

Instance::Instance(DaemonConfig config, Descriptor name, Fabric fabric, InstanceTrace trace)
    : config_(std::move(config)), name_{std::move(name)}, trace_(std::move(trace)), fabric_(std::move(fabric)) {}

absl::StatusOr<std::unique_ptr<Instance>> Instance::create(DaemonConfig config) {
  auto listener = complete(config);
  if (!listener.ok()) return listener.status();
  Descriptor name;
  if (auto status = claim_instance_name(config.name, name); !status.ok()) return status;
  auto socket = open_configured_socket(config);
  if (!socket.ok()) return socket.status();
  const int endpoints = endpoints_of(config);
  auto fabric = Fabric::create(config.name, endpoints, inbox_bytes(config.transport, endpoints));
  if (!fabric.ok()) return fabric.status();
  InstanceTrace trace(config.name);
  std::unique_ptr<Instance> instance(
      new Instance(std::move(config), std::move(name), std::move(*fabric), std::move(trace)));
  instance->take_sockets(*std::move(listener), *std::move(socket));
  if (auto status = instance->make_pages(); !status.ok()) return status;
  if (auto status = instance->place_replicas(); !status.ok()) return status;
  if (auto status = instance->restore_state(); !status.ok()) return status;
  if (auto status = instance->open_view(); !status.ok()) return status;
  return instance;
}

absl::Status Instance::make_pages() {
  auto page_fd = create_segment(absl::StrCat(config_.name, "-daemon"), sizeof(DaemonPage));
  if (!page_fd.ok()) return page_fd.status();
  auto segment = Segment::map(page_fd->get(), Segment::Access::kReadWrite);
  if (!segment.ok()) return segment.status();
  page_fd_ = std::move(*page_fd);
  page_segment_ = std::move(*segment);
  page_ = page_segment_.as<DaemonPage>();
  for (int id = 0; id < config_.replicas; ++id) {
    auto page = create_segment(absl::StrCat(config_.name, "-page-", id), sizeof(ReplicaPage));
    if (!page.ok()) return page.status();
    auto stable = make_stable(id);
    if (!stable.ok()) return stable.status();
    ReplicaLaunch launch;
    launch.id = id;
    launch.page_fd = page->get();
    replicas_.push_back(launch);
    pages_.push_back(*std::move(page));
    stable_.emplace_back().push_back({1, *std::move(stable)});
    releases_.push_back(1);
  }
  note_this_supervisor();
  page().start_unix_ms.set(page().supervisor_start_unix_ms.get());
  page().lost_former_unix_ms.set(static_cast<std::uint64_t>(trace_.found_unix_ms().value_or(0)));
  page().layout_version.set_release(kPageLayoutVersion);
  return absl::OkStatus();
}

// The time is noted once: what another process would compute of the kernel's start time depends on when it reads the
// clock.
void Instance::note_this_supervisor() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  page().supervisor_start_unix_ms.set(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  note_supervisor(page(), {static_cast<std::uint64_t>(::getpid()), process_start(::getpid())});
}

absl::Status Instance::place_replicas() {
  auto topology = this_machine();
  if (!topology.ok()) return topology.status();
  const Placement placement = place(*topology, config_.replicas);
  shared_cores_ = false;
  for (ReplicaLaunch& launch : replicas_) {
    launch.core = placement.replicas[launch.id].value();
    page().replicas[launch.id].core.set(launch.core);
    shared_cores_ = shared_cores_ || !placement.owns_core(launch.id);
  }
  auto plan = plan_from(config_, *topology, placement);
  if (!plan.ok()) return plan.status();
  trees_ = launch_trees(*plan);
  return absl::OkStatus();
}

// The replicas begin as those of an instance do whose replicas have all died, and of whose log nothing is left but a
// snapshot.
absl::Status Instance::restore_state() {
  if (config_.restore.empty()) return absl::OkStatus();
  auto restored = restore({config_.restore, config_.bump_revision, config_.mark_compacted, trees_.initial});
  if (!restored.ok()) {
    return absl::Status(restored.status().code(), absl::StrCat("--restore: ", restored.status().message()));
  }
  hold_snapshot(restored->slot, std::move(restored->snapshot));
  publish_snapshot();
  page().lost_former_unix_ms.set(0);  // the state that was lost is back, as far as it can be
  restored_ = std::move(restored->summary);
  return absl::OkStatus();
}

LaunchSpec Instance::launch_spec() const {
  LaunchSpec spec;
  spec.config = config_;
  spec.fabric_fds = fabric_.descriptors();
  spec.daemon_page_fd = page_fd_.get();
  spec.listen_fd = listener_.get();
  if (socket_.valid()) spec.socket = {socket_.fd(), binding_, socket_.file()};
  spec.shared_cores = shared_cores_;
  spec.replicas = replicas_;
  for (ReplicaLaunch& launch : spec.replicas) {
    for (const StableIncarnation& started : stable_[launch.id])
      launch.earlier.push_back({started.incarnation, started.fd.get()});
    launch.incarnation = launch.earlier.back().incarnation;
    launch.stable_fd = launch.earlier.back().stable_fd;
    launch.earlier.pop_back();
  }
  spec.front_end_incarnation = front_end_incarnation_;
  spec.publisher_incarnation = publisher_incarnation_;
  if (view_socket_.valid()) spec.view_socket = {view_socket_.fd(), view_binding_, view_socket_.file()};
  spec.view_page_fd = view_page_fd_.get();
  spec.snapshot_fd = snapshot_.get();
  spec.snapshot_slot = snapshot_slot_.value();
  spec.trees = trees_;
  spec.trace_folders = trace_.folders();
  return spec;
}

std::uint32_t Instance::incarnation(int endpoint) const {
  if (endpoint < config_.replicas) return stable_[endpoint].back().incarnation;
  return endpoint == config_.replicas ? front_end_incarnation_ : publisher_incarnation_;
}

absl::StatusOr<Descriptor> Instance::make_stable(int replica) const {
  return create_segment(absl::StrCat(config_.name, "-stable-", replica), kStableSegmentBytes);
}

absl::Status Instance::begin_incarnation(int endpoint) {
  if (has_view(config_) && endpoint == view_endpoint(config_)) return begin_publisher();
  INGOT_CHECK(endpoint >= 0 && endpoint <= config_.replicas, "a replica, or the front end behind them");
  if (endpoint == config_.replicas) return begin_front_end();
  const std::uint32_t next = incarnation(endpoint) + 1;
  if (stable_[endpoint].size() >= kKeptIncarnationsMax) {
    return absl::ResourceExhaustedError(absl::StrCat("the stable segments of ", stable_[endpoint].size(),
                                                     " earlier incarnations are needed until a snapshot is "
                                                     "published"));
  }
  auto stable = make_stable(endpoint);
  if (!stable.ok()) return stable.status();
  auto inbox = fabric_.renew_inbox(EndpointId(static_cast<std::uint16_t>(endpoint)));
  if (!inbox.ok()) return inbox.status();
  add_incarnation(stable_[endpoint], StableIncarnation{next, *std::move(stable)},
                  [](const StableIncarnation& ended) { return incarnation_counts(ended.fd.get(), ended.incarnation); });
  return absl::OkStatus();
}

// If one of its inboxes cannot be made, those made before are of no incarnation yet, and are made again.
absl::Status Instance::begin_front_end() {
  for (int endpoint = config_.replicas; endpoint < view_endpoint(config_); ++endpoint) {
    auto inbox = fabric_.renew_inbox(EndpointId(static_cast<std::uint16_t>(endpoint)));
    if (!inbox.ok()) return inbox.status();
  }
  ++front_end_incarnation_;
  return absl::OkStatus();
}

absl::Status Instance::leave_trace() { return std::exchange(left_trace_, true) ? absl::OkStatus() : trace_.leave(); }

void Instance::touch_trace() {
  if (left_trace_) trace_.touch();
}

void Instance::remove_trace() {
  if (left_trace_) trace_.remove();
}

}  // namespace ingot::services_instance
