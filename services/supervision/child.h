// One process of an instance as its supervisor knows it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "services/process/supervision_channel.h"
#include "services/supervision/child_process.h"
#include "transport/host/descriptor.h"

namespace ingot {

inline constexpr const char* kFrontEndLabel = "the front end";
inline constexpr const char* kAllReplicasLabel = "the replicas' process";

// What a process is for.
struct ChildRole {
  std::string word;           // "replica", "replicas" or "front-end"
  std::string label;          // for messages: "replica 2"
  std::vector<int> replicas;  // ids of the replicas that it runs
  int endpoint = -1;          // the endpoint that its process is an incarnation of; -1: several, which end together
  bool front_end() const { return word == "front-end"; }

  static ChildRole replica(int id);
  static ChildRole all_replicas(int replicas);
  static ChildRole front_end(int replicas);
};

// Used by the supervisor's one thread. Held by shared_ptr: a pending wait may outlive the child's place in the table.
class Child : public std::enable_shared_from_this<Child> {
 public:
  using Clock = std::chrono::steady_clock;

  // `pidfd` names the process for as long as the object lives, even if another process is its parent.
  Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, SupervisionChannel channel,
        std::uint32_t incarnation);
  ~Child();

  const ChildRole role;
  const pid_t pid;
  const std::uint32_t incarnation;
  const Clock::time_point started = Clock::now();
  bool ready = false;
  bool running = true;
  bool foreign = false;  // a former supervisor started it: SIGCHLD reports neither its end nor its stops
  bool stopped = false;  // as last seen; kept for foreign processes only

  SupervisionChannel channel;
  boost::asio::posix::stream_descriptor channel_ready;  // the channel's socket, to wait on; the channel closes it
  boost::asio::posix::stream_descriptor pidfd;          // readable once the process has ended

  // "replica 2 (pid 4711)".
  std::string name() const;

  // As SupervisionChannel::post; pending messages go out as soon as the socket has room.
  void post(const SupervisionMessage& message, std::span<const int> fds = {});

  void signal(int number);

  // The process has ended: closes everything that names it.
  void close();

 private:
  void flush_when_writable();

  bool waits_for_room_ = false;
};

}  // namespace ingot
