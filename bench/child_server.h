// Runs a server in a child process, on a free port of the loopback.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::bench {

// A port of 127.0.0.1 that was free a moment ago.
absl::StatusOr<int> free_port();

// Runs a program until destruction, which sends SIGTERM and waits for it. The child is killed if this process dies. Not
// thread-safe.
class ChildServer {
 public:
  // `command` is the program and its arguments. Its standard output goes to standard error.
  static absl::StatusOr<ChildServer> start(const std::vector<std::string>& command, std::string endpoint);

  ChildServer(ChildServer&& other) noexcept;
  ChildServer& operator=(ChildServer&&) = delete;
  ~ChildServer();

  const std::string& endpoint() const { return endpoint_; }
  pid_t pid() const { return pid_; }
  // Processor time of the process and its descendants so far, in ns.
  std::uint64_t cpu_ns() const;
  // False if the program has ended by itself.
  bool running() const;

 private:
  ChildServer(pid_t pid, std::string endpoint) : pid_(pid), endpoint_(std::move(endpoint)) {}

  pid_t pid_;
  std::string endpoint_;
};

}  // namespace ingot::bench
