// The launch document that a child process gets from the supervisor at its start, in an inherited memfd
// (proto/ingot/supervision/v1/launch.proto).
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
#include "services/launch/tree_launch.h"
#include "services/sockets/unix_listener.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_launch {

// The stable segment of an incarnation that has ended. -1: the supervisor keeps it, and this process does not have it.
struct EarlierIncarnation {
  std::uint32_t incarnation = 1;
  int stable_fd = -1;
};

// What a process must know of one replica. Descriptors are numbers in the child.
struct ReplicaLaunch {
  int id = 0;
  std::uint32_t incarnation = 1;
  int core = 0;        // where its loop runs
  int page_fd = -1;    // ReplicaPage, the same for all its incarnations
  int stable_fd = -1;  // StableSegment of this incarnation
  // Oldest first; those whose segments are kept (replication/stable/incarnation_segments.h).
  std::vector<EarlierIncarnation> earlier;
};

// The instance's Unix socket; config.socket is its path.
struct SocketLaunch {
  int fd = -1;                // it listens; -1: there is none
  std::uint32_t binding = 0;  // how often the instance has bound the path; 0: never
  SocketFile file;            // at the path, unless it has been removed
};

inline constexpr std::size_t kLaunchDocumentBytesMax = 16 * 1024 * 1024;  // a longer one is refused by both sides

struct LaunchSpec {
  DaemonConfig config;
  std::vector<int> fabric_fds;  // Fabric::descriptors(): control segment, inboxes, bells
  int control_fd = -1;       // the supervision channel
  int daemon_page_fd = -1;
  int listen_fd = -1;        // the TCP socket of config.listen, which listens
  SocketLaunch socket;
  bool shared_cores = true;  // more loops than cores: no spinning
  int replica = -1;          // the replica that this process runs; -1: all of them, or it runs none
  std::vector<ReplicaLaunch> replicas;
  std::uint32_t front_end_incarnation = 1;
  std::uint32_t publisher_incarnation = 1;  // of the view's publisher, which may never have run
  SocketLaunch view_socket;  // on which readers of the view connect
  int view_page_fd = -1;     // ViewPage; -1: there is no view
  int snapshot_fd = -1;  // the newest published snapshot; -1: there is none
  std::uint64_t snapshot_slot = 0;  // the snapshot holds the effects of all slots below this one
  TreeLaunch trees;
  std::vector<std::string> trace_folders;  // InstanceTrace::folders()

  // Calls visit(int& fd) for each descriptor of the instance, in a fixed order, except the supervision channel's, which
  // is the child's own, and the fabric's (fabric_fds).
  template <typename Visit>
  void for_each_descriptor(Visit&& visit) {
    visit(daemon_page_fd);
    if (listen_fd >= 0) visit(listen_fd);
    if (socket.fd >= 0) visit(socket.fd);
    if (view_socket.fd >= 0) visit(view_socket.fd);
    if (view_page_fd >= 0) visit(view_page_fd);
    for (ReplicaLaunch& launch : replicas) {
      visit(launch.page_fd);
      if (launch.stable_fd >= 0) visit(launch.stable_fd);
      for (EarlierIncarnation& started : launch.earlier) {
        if (started.stable_fd >= 0) visit(started.stable_fd);
      }
    }
    if (snapshot_fd >= 0) visit(snapshot_fd);
  }

  // The descriptors that for_each_descriptor visits: all that the child needs, except the supervision channel's and the
  // fabric's.
  std::vector<int> descriptors() const;

  // In the child, once everything that it needs is mapped or moved away: closes what for_each_descriptor visits.
  // Otherwise this process would hold a segment for the rest of its life, even when all other processes have dropped
  // it. REQUIRES: SupervisorLink has its duplicates.
  void close_descriptors();
};

// The cores that the calling thread may use and that no replica's loop runs on; possibly none.
std::vector<CoreId> cores_without_loops(const std::vector<ReplicaLaunch>& replicas);

// Serializes the document.
std::string encode_launch_spec(const LaunchSpec& spec);
// The reverse. On success the numbers of replicas, endpoints and incarnations fit each other. Errors: INVALID_ARGUMENT
// (bytes that encode_launch_spec() does not write).
absl::StatusOr<LaunchSpec> decode_launch_spec(std::string_view bytes);

// Writes the document into a memfd, which is closed across exec unless set_inherited. Errors: RESOURCE_EXHAUSTED (the
// document is longer than kLaunchDocumentBytesMax, or there is no descriptor or memory).
absl::StatusOr<Descriptor> write_launch_spec(const LaunchSpec& spec);

// Reads the document in the child. Errors: INVALID_ARGUMENT (anything that write_launch_spec does not write).
absl::StatusOr<LaunchSpec> read_launch_spec(int fd);

}  // namespace ingot::services_launch
