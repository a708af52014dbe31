// One process of an instance as its supervisor knows it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

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
  Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, Descriptor control,
        std::uint32_t incarnation);

  const ChildRole role;
  const pid_t pid;
  const std::uint32_t incarnation;
  const Clock::time_point started = Clock::now();
  bool ready = false;
  bool running = true;
  bool foreign = false;  // somebody else started it: its end and its stops are not told by SIGCHLD
  bool stopped = false;  // as seen last; kept of foreign ones

  boost::asio::posix::stream_descriptor control;
  boost::asio::posix::stream_descriptor pidfd;  // readable once the process has ended

  // "replica 2 (pid 4711)".
  std::string name() const;

  // Says a word, now or, if its channel is full, as soon as there is room; in order. What a process that is gone does
  // not hear does not matter. `endpoint`: whose incarnation the word tells of, -1 for others; see
  // kPendingIncarnationsPerEndpoint.
  void send(std::string_view text, std::span<const int> fds = {}, int endpoint = -1);

  void signal(int number);

 private:
  struct Pending {
    std::string text;
    std::vector<Descriptor> fds;  // duplicates: the originals may be closed meanwhile
    int endpoint;
  };

  void remember(std::string_view text, std::span<const int> fds, int endpoint);
  void send_when_writable();
  void send_pending();

  std::deque<Pending> pending_;
};

}  // namespace ingot
