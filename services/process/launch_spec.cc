#include "services/process/launch_spec.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/planning/topology.h"
#include "services/config/config_message.h"

namespace ingot {

// The settings as bytes of their message: their texts may be no UTF-8.
void to_json(nlohmann::json& json, const DaemonConfig& config) {
  json = absl::BytesToHexString(to_message(config).SerializeAsString());
}

void from_json(const nlohmann::json& json, DaemonConfig& config) {
  config_v1::Config message;
  if (!message.ParseFromString(absl::HexStringToBytes(json.get<std::string>()))) {
    throw std::invalid_argument("its configuration is no message");
  }
  auto read = from_message(message);
  if (!read.ok()) throw std::invalid_argument(std::string(read.status().message()));
  config = *std::move(read);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EarlierIncarnation, incarnation, stable_fd)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReplicaLaunch, id, incarnation, core, page_fd, stable_fd, earlier)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TreeLaunch, initial, machine, cores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchSpec, config, fabric, control_fd, daemon_page_fd, shared_cores, replica,
                                   replicas, front_end_incarnation, snapshot_fd, snapshot_slot, trees)

std::vector<int> LaunchSpec::descriptors() const {
  std::vector<int> fds;
  LaunchSpec copy = *this;
  copy.for_each_descriptor([&](int& fd) { fds.push_back(fd); });
  return fds;
}

void LaunchSpec::close_descriptors() {
  for_each_descriptor([](int& fd) { const Descriptor closed(std::exchange(fd, -1)); });
}

absl::StatusOr<Descriptor> write_launch_spec(const LaunchSpec& spec) {
  const std::string text = nlohmann::json(spec).dump();
  Descriptor fd(::memfd_create("ingot-launch", MFD_CLOEXEC));
  if (!fd.valid() || ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot write a launch document: ", std::strerror(errno)));
  }
  return fd;
}

std::vector<CoreId> cores_without_loops(const std::vector<ReplicaLaunch>& replicas) {
  std::vector<CoreId> loops;
  for (const ReplicaLaunch& launch : replicas) loops.push_back(CoreId(static_cast<std::uint16_t>(launch.core)));
  return cores_without(loops);
}

absl::StatusOr<LaunchSpec> read_launch_spec(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  if (text.empty() || ::pread(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return absl::InvalidArgumentError("no launch document: child processes are started by ingotd alone");
  }
  try {
    return nlohmann::json::parse(text).get<LaunchSpec>();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not a launch document: ", error.what()));
  }
}

}  // namespace ingot
