// A made instance whose memory the test owns, for tests of what a handover carries.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "replication/pages/pages.h"
#include "services/handover/handover_state.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/segment.h"

namespace ingot {

// A NewIncarnation message with its descriptors.
struct Start {
  supervision_v1::NewIncarnation message;
  std::vector<Descriptor> fds;
};

// An instance with `replicas` replicas and a segment for each of its descriptors, which the test owns.
struct Made {
  explicit Made(int replicas, int loops = 1) {
    spec.config.front_end_loops = loops;
    spec.config.name = "made";
    spec.config.replicas = replicas;
    for (int i = 0; i < 1 + 2 * endpoints_of(spec.config); ++i) spec.fabric_fds.push_back(make());
    spec.daemon_page_fd = make();
    spec.listen_fd = make();
    spec.socket = {make(), 1, {7, 8}};
    spec.view_socket = {make(), 1, {7, 9}};
    spec.view_page_fd = make();
    for (int id = 0; id < replicas; ++id) {
      ReplicaLaunch launch;
      launch.id = id;
      launch.page_fd = make();
      launch.stable_fd = make();
      spec.replicas.push_back(launch);
    }
  }
  int make() {
    auto fd = create_segment("part", sizeof(DaemonPage));
    REQUIRE(fd.ok());
    owned.push_back(*std::move(fd));
    return owned.back().get();
  }
  // `kept`: all earlier ones, unless it is given.
  Start start(int endpoint, std::uint32_t incarnation, std::optional<std::vector<std::uint32_t>> kept = {}) {
    Start start;
    if (!kept) {
      kept.emplace();
      for (std::uint32_t earlier = 1; earlier < incarnation; ++earlier) kept->push_back(earlier);
    }
    start.message.mutable_kept()->Add(kept->begin(), kept->end());
    start.message.set_endpoint(endpoint);
    start.message.set_incarnation(incarnation);
    const int inboxes = endpoint == spec.config.replicas ? front_end_endpoints(spec.config) : 1;
    const int parts = endpoint < spec.config.replicas ? 2 : inboxes;
    for (int i = 0; i < parts; ++i) start.fds.emplace_back(::fcntl(make(), F_DUPFD_CLOEXEC, 0));
    return start;
  }
  LaunchSpec spec;
  std::vector<Descriptor> owned;
};

inline ino_t inode(int fd) {
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  return info.st_ino;
}

inline bool begin(HandoverState& known, const Start& start) { return known.begin_incarnation(start.message, start.fds).ok(); }

inline HandoverState copy(const LaunchSpec& spec) {
  auto known = HandoverState::copy(spec);
  REQUIRE(known.ok());
  return *std::move(known);
}

inline supervision_v1::Orphaned described(const HandoverState& known) {
  supervision_v1::Orphaned greeting;
  known.describe(greeting);
  return greeting;
}

// What the other side of a channel receives.
inline HandoverState sent_and_received(const HandoverState& known) {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
  SupervisionChannel left{Descriptor(fds[0])}, right{Descriptor(fds[1])};
  REQUIRE(known.send(left).ok());
  HandoverStateReceiver receiver;
  for (;;) {
    auto received = right.receive();
    REQUIRE(received.outcome == SupervisionChannel::Received::Outcome::kMessage);
    const auto complete = receiver.add(received.message, std::move(received.fds));
    REQUIRE(complete.ok());
    if (*complete) return receiver.take();
  }
}

}  // namespace ingot
