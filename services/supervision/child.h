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
  std::vector<int> replicas;  // ids that it runs
  int endpoint = -1;          // whose lives it lives; -1: several, which end together
  bool front_end() const { return word == "front-end"; }

  static ChildRole replica(int id);
  static ChildRole all_replicas(int replicas);
  static ChildRole front_end(int replicas);
};

// Used by the supervisor's one thread. Held by shared_ptr: what waits for it may outlive its place in the table.
class Child : public std::enable_shared_from_this<Child> {
 public:
  using Clock = std::chrono::steady_clock;

  // `pidfd` names the process for as long as this lives, whoever its parent is.
  Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, SupervisionChannel channel,
        std::uint32_t incarnation);
  ~Child();

  const ChildRole role;
  const pid_t pid;
  const std::uint32_t incarnation;
  const Clock::time_point started = Clock::now();
  bool ready = false;
  bool running = true;
  bool foreign = false;  // somebody else started it: its end and its stops are not told by SIGCHLD
  bool stopped = false;  // as seen last; kept of foreign ones

  SupervisionChannel channel;
  boost::asio::posix::stream_descriptor channel_ready;  // the channel's socket, to wait for; closed by close() alone
  boost::asio::posix::stream_descriptor pidfd;          // readable once the process has ended

  // "replica 2 (pid 4711)".
  std::string name() const;

  // As SupervisionChannel::post; what waits goes out as soon as there is room.
  void post(const SupervisionMessage& message, std::span<const int> fds = {});

  void signal(int number);

  // The process has ended: closes everything that names it.
  void close();

 private:
  void flush_when_writable();

  bool waits_for_room_ = false;
};

}  // namespace ingot
