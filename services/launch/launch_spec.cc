#include "services/launch/launch_spec.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "core/planning/topology.h"
#include "proto/ingot/supervision/v1/launch.pb.h"
#include "replication/agreement/limits.h"
#include "services/config/config_message.h"

namespace ingot::inline services_launch {

namespace {

using supervision::v1::LaunchDocument;
using ReplicaDocument = supervision::v1::Replica;

absl::Status refused(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("not a launch document: ", why));
}

void write(const ReplicaLaunch& launch, ReplicaDocument& document) {
  document.set_id(launch.id);
  document.set_incarnation(launch.incarnation);
  document.set_core(launch.core);
  document.set_page_fd(launch.page_fd);
  document.set_stable_fd(launch.stable_fd);
  for (const EarlierIncarnation& ended : launch.earlier) {
    auto& each = *document.add_earlier();
    each.set_incarnation(ended.incarnation);
    each.set_stable_fd(ended.stable_fd);
  }
}

void write(const SocketLaunch& socket, supervision::v1::BoundSocket& document) {
  document.set_fd(socket.fd);
  document.set_binding(socket.binding);
  document.set_device(socket.file.device);
  document.set_inode(socket.file.inode);
}

LaunchDocument document_of(const LaunchSpec& spec) {
  LaunchDocument document;
  *document.mutable_config() = to_message(spec.config);
  document.mutable_fabric_fds()->Add(spec.fabric_fds.begin(), spec.fabric_fds.end());
  document.set_control_fd(spec.control_fd);
  document.set_daemon_page_fd(spec.daemon_page_fd);
  document.set_listen_fd(spec.listen_fd);
  if (spec.socket.fd >= 0) write(spec.socket, *document.mutable_socket());
  document.set_shared_cores(spec.shared_cores);
  document.set_replica(spec.replica);
  for (const ReplicaLaunch& launch : spec.replicas) write(launch, *document.add_replicas());
  document.set_front_end_incarnation(spec.front_end_incarnation);
  document.set_publisher_incarnation(spec.publisher_incarnation);
  if (spec.view_socket.fd >= 0) write(spec.view_socket, *document.mutable_view_socket());
  document.set_view_page_fd(spec.view_page_fd);
  document.set_snapshot_fd(spec.snapshot_fd);
  document.set_snapshot_slot(spec.snapshot_slot);
  document.mutable_trees()->set_initial(spec.trees.initial);
  document.mutable_trees()->set_machine(spec.trees.machine);
  document.mutable_trees()->mutable_cores()->Add(spec.trees.cores.begin(), spec.trees.cores.end());
  for (const std::string& folder : spec.trace_folders) document.add_trace_folders(folder);
  return document;
}

ReplicaLaunch read(const ReplicaDocument& document) {
  ReplicaLaunch launch;
  launch.id = document.id();
  launch.incarnation = document.incarnation();
  launch.core = document.core();
  launch.page_fd = document.page_fd();
  launch.stable_fd = document.stable_fd();
  for (const auto& ended : document.earlier()) launch.earlier.push_back({ended.incarnation(), ended.stable_fd()});
  return launch;
}

SocketLaunch read(const supervision::v1::BoundSocket& document) {
  return {document.fd(), document.binding(), {document.device(), document.inode()}};
}

absl::Status check(const ReplicaLaunch& launch, int id) {
  if (launch.id != id) return refused("its replicas are out of order");
  if (launch.core < 0 || launch.core > 0xffff) return refused("a core is out of range");
  std::uint32_t before = 0;
  for (const EarlierIncarnation& ended : launch.earlier) {
    if (ended.incarnation <= before) return refused("its incarnations are out of order");
    before = ended.incarnation;
  }
  if (launch.incarnation <= before) return refused("its incarnations are out of order");
  return absl::OkStatus();
}

// Checks the numbers that serve as indexes and sizes. Descriptors are checked where they are used.
absl::Status check(const LaunchSpec& spec) {
  const auto replicas = static_cast<int>(spec.replicas.size());
  if (replicas < 1 || replicas > kReplicasMax || replicas != spec.config.replicas) {
    return refused("its number of replicas is wrong");
  }
  const auto endpoints = static_cast<std::size_t>(endpoints_of(spec.config));
  if (endpoints > kEndpointsMax) return refused("its number of loops is wrong");
  if (spec.fabric_fds.size() != 1 + 2 * endpoints) return refused("its fabric is of another instance");
  if (spec.replica < -1 || spec.replica >= replicas) return refused("its replica is out of range");
  if (spec.front_end_incarnation == 0 || spec.publisher_incarnation == 0) {
    return refused("its incarnations are out of order");
  }
  if (spec.snapshot_slot > kSlotsMax) return refused("its snapshot is out of range");
  for (int id = 0; id < replicas; ++id) {
    if (auto status = check(spec.replicas[id], id); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<int> LaunchSpec::descriptors() const {
  std::vector<int> fds;
  LaunchSpec copy = *this;
  copy.for_each_descriptor([&](int& fd) { fds.push_back(fd); });
  return fds;
}

void LaunchSpec::close_descriptors() {
  for_each_descriptor([](int& fd) { const Descriptor closed(std::exchange(fd, -1)); });
}

std::string encode_launch_spec(const LaunchSpec& spec) { return document_of(spec).SerializeAsString(); }

absl::StatusOr<LaunchSpec> decode_launch_spec(std::string_view bytes) {
  LaunchDocument document;
  if (bytes.empty() || !document.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return refused("its bytes are malformed");
  }
  auto config = from_message(document.config());
  if (!config.ok()) return refused(std::string(config.status().message()));
  LaunchSpec spec;
  spec.config = *std::move(config);
  spec.fabric_fds.assign(document.fabric_fds().begin(), document.fabric_fds().end());
  spec.control_fd = document.control_fd();
  spec.daemon_page_fd = document.daemon_page_fd();
  spec.listen_fd = document.listen_fd();
  if (document.has_socket()) spec.socket = read(document.socket());
  spec.shared_cores = document.shared_cores();
  spec.replica = document.replica();
  for (const ReplicaDocument& replica : document.replicas()) spec.replicas.push_back(read(replica));
  spec.front_end_incarnation = document.front_end_incarnation();
  spec.publisher_incarnation = document.publisher_incarnation();
  if (document.has_view_socket()) spec.view_socket = read(document.view_socket());
  spec.view_page_fd = document.view_page_fd();
  spec.snapshot_fd = document.snapshot_fd();
  spec.snapshot_slot = document.snapshot_slot();
  spec.trees.initial = document.trees().initial();
  spec.trees.machine = document.trees().machine();
  spec.trees.cores.assign(document.trees().cores().begin(), document.trees().cores().end());
  spec.trace_folders.assign(document.trace_folders().begin(), document.trace_folders().end());
  if (auto status = check(spec); !status.ok()) return status;
  return spec;
}

absl::StatusOr<Descriptor> write_launch_spec(const LaunchSpec& spec) {
  const std::string bytes = encode_launch_spec(spec);
  if (bytes.size() > kLaunchDocumentBytesMax) return absl::ResourceExhaustedError("the launch document is too long");
  Descriptor fd(::memfd_create("ingot-launch", MFD_CLOEXEC));
  if (!fd.valid() || ::pwrite(fd.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot write a launch document: ", std::strerror(errno)));
  }
  return fd;
}

absl::StatusOr<LaunchSpec> read_launch_spec(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size > static_cast<off_t>(kLaunchDocumentBytesMax)) return refused("it is too long");
  std::string bytes(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  if (bytes.empty() || ::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::InvalidArgumentError("no launch document: its descriptor is not that of one");
  }
  return decode_launch_spec(bytes);
}

std::vector<CoreId> cores_without_loops(const std::vector<ReplicaLaunch>& replicas) {
  std::vector<CoreId> loops;
  for (const ReplicaLaunch& launch : replicas) loops.push_back(CoreId(static_cast<std::uint16_t>(launch.core)));
  return cores_without(loops);
}

}  // namespace ingot::services_launch
