// What the supervisor tells a child process at its start: a document (proto/ingot/supervision/v1/launch.proto) in an
// inherited memfd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/process/tree_launch.h"
#include "transport/host/descriptor.h"

namespace ingot {

// The stable segment of an incarnation that has ended.
struct EarlierIncarnation {
  std::uint32_t incarnation = 1;
  int stable_fd = -1;
};

// One replica as its process must know it. Descriptors are numbers in the child.
struct ReplicaLaunch {
  int id = 0;
  std::uint32_t incarnation = 1;
  int core = 0;        // where its loop runs
  int page_fd = -1;    // ReplicaPage, of all its incarnations
  int stable_fd = -1;  // StableSegment, of this incarnation
  std::vector<EarlierIncarnation> earlier;  // that still count (replication/replica/peer_segments.h), oldest first
};

inline constexpr std::size_t kLaunchDocumentBytesMax = 16 * 1024 * 1024;  // a longer one is refused by both sides

struct LaunchSpec {
  DaemonConfig config;
  std::vector<int> fabric_fds;  // Fabric::descriptors(): control segment, inboxes, bells
  int control_fd = -1;       // to the supervisor
  int daemon_page_fd = -1;
  bool shared_cores = true;  // more loops than cores: no spinning
  int replica = -1;          // the one this process runs; -1: all of them, or the front end
  std::vector<ReplicaLaunch> replicas;
  std::uint32_t front_end_incarnation = 1;
  int snapshot_fd = -1;  // the newest published snapshot; -1: there is none
  std::uint64_t snapshot_slot = 0;  // it holds the effects of all slots below
  TreeLaunch trees;

  // Calls visit(int& fd) for each descriptor of the instance, in a fixed order: neither the supervision channel's,
  // which is the child's own, nor the fabric's (fabric_fds).
  template <typename Visit>
  void for_each_descriptor(Visit&& visit) {
    visit(daemon_page_fd);
    for (ReplicaLaunch& launch : replicas) {
      visit(launch.page_fd);
      visit(launch.stable_fd);
      for (EarlierIncarnation& started : launch.earlier) visit(started.stable_fd);
    }
    if (snapshot_fd >= 0) visit(snapshot_fd);
  }

  // All descriptors that the child must have, besides the supervision channel's and the fabric's.
  std::vector<int> descriptors() const;

  // In the child, once all that it needs is mapped: closes what for_each_descriptor visits. Else a segment that
  // everybody else has let go of would be held for as long as this process lives. REQUIRES: SupervisorLink has its
  // duplicates.
  void close_descriptors();
};

// Those that the calling thread may use and no replica's loop runs on; possibly none.
std::vector<CoreId> cores_without_loops(const std::vector<ReplicaLaunch>& replicas);

// The document as bytes.
std::string encode_launch_spec(const LaunchSpec& spec);
// And back. Errors: INVALID_ARGUMENT, for bytes that encode_launch_spec() does not write; the numbers of replicas,
// endpoints and incarnations fit each other.
absl::StatusOr<LaunchSpec> decode_launch_spec(std::string_view bytes);

// Writes the document into a memfd that is closed across exec unless set_inherited.
absl::StatusOr<Descriptor> write_launch_spec(const LaunchSpec& spec);

// Reads it in the child. Errors: INVALID_ARGUMENT, for anything that write_launch_spec did not write.
absl::StatusOr<LaunchSpec> read_launch_spec(int fd);

}  // namespace ingot
