#include "services/instance/resource_limits.h"

#include <sys/resource.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/instance/limits.h"
#include "services/launch/tasks.h"
#include "transport/host/limits.h"

namespace ingot::inline services_instance {

namespace {

void raise(int resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(resource, &limit);
}

absl::Status check(int resource, std::uint64_t needed, const std::string& what, const char* raise) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(what, " ", needed, ", and the limit is ", limit.rlim_cur, "; raise it (", raise, ")"));
}

// Descriptors that every process of the instance holds or inherits.
int instance_descriptors(const DaemonConfig& config) {
  const int endpoints = endpoints_of(config);
  const int fabric = 1 + 2 * endpoints;                    // control segment, inboxes, bells
  const int of_a_replica = 1 + 1 + kEarlierSegments;       // page and stable segments
  constexpr int kOthers = 6;  // the pages of daemon and view, the snapshot, and three sockets that listen
  return fabric + config.replicas * of_a_replica + kOthers;
}

int tasks_needed(const DaemonConfig& config) {
  const int front_end = front_end_tasks(front_end_endpoints(config));
  if (config.backend == Backend::kScc) return front_end;
  return front_end + config.replicas * kReplicaTasks + kStandbyTasks + kPublisherTasks;
}

}  // namespace

void raise_limits() {
  for (const int resource : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC}) raise(resource);
}

// A child holds its inherited descriptors and their duplicates (HandoverState) at a time while it starts.
int descriptors_needed(const DaemonConfig& config) {
  const int shared = config.backend == Backend::kScc ? 0 : 2 * instance_descriptors(config);
  return shared + kOwnDescriptors + kClientDescriptorsMin;
}

absl::Status check_limits(const DaemonConfig& config) {
  const std::string replicas = absl::StrCat("--replicas=", config.replicas);
  if (auto status = check(RLIMIT_NOFILE, static_cast<std::uint64_t>(descriptors_needed(config)),
                          absl::StrCat("the number of open files that ", replicas, " needs is"),
                          "ulimit -n, or LimitNOFILE= of a service");
      !status.ok()) {
    return status;
  }
  if (auto status = check(RLIMIT_FSIZE, kSegmentBytesMax, "the size of a file of shared memory, in bytes, may reach",
                          "ulimit -f unlimited, or LimitFSIZE= of a service");
      !status.ok()) {
    return status;
  }
  return check_room_for_tasks(tasks_needed(config));
}

}  // namespace ingot::services_instance
