// The Unix socket on which an instance listens beside TCP, with its file. The kernel says of each of its connections
// which process made it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_sockets {

// Who may connect: those who may write to the socket's file.
struct SocketRights {
  mode_t mode = 0660;
  std::optional<gid_t> group;  // the file's group; none: that of the process
};

// `mode` as --socket-mode has it, `group` a name or a number; empty: the process's. REQUIRES: fault_in_socket_mode
// finds no fault. Errors: INVALID_ARGUMENT (there is no such group).
absl::StatusOr<SocketRights> socket_rights(const std::string& mode, const std::string& group);

// Which file of the machine the socket was bound to. No other file has the same as long as the socket is open.
struct SocketFile {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const SocketFile&) const = default;
};

// Removes the file at the path if it is that one.
void remove_socket_file(const std::string& path, const SocketFile& file);

// Not thread-safe. Without a socket all functions do nothing.
class UnixListener {
 public:
  UnixListener() = default;

  // Makes the path's folder (0755) if it is missing, binds, and listens, non-blocking. A socket's file that no process
  // listens on is replaced, no other file ever is. Of several processes that do this for one path, one succeeds.
  // REQUIRES: an absolute path of at most kSocketPathBytesMax. Errors: ALREADY_EXISTS (a process listens there; the
  // sentence names it), FAILED_PRECONDITION (another file is there; the folder or the file cannot be made or given
  // these rights), UNAVAILABLE (as for SocketLock).
  static absl::StatusOr<UnixListener> bind(const std::string& path, const SocketRights& rights);

  // A socket that a former supervisor has bound.
  UnixListener(Descriptor fd, std::string path, SocketFile file);

  UnixListener(UnixListener&& other) noexcept;
  UnixListener& operator=(UnixListener&& other) noexcept;
  // Removes the file, unless it is another one by now: an instance that ends leaves nothing behind.
  ~UnixListener() { remove_file(); }

  bool valid() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  const SocketFile& file() const { return file_; }

  // From now on the kernel names this process as the one that listens, instead of a dead supervisor.
  void listen_again();

  // Whether the path leads to this socket.
  bool has_file() const;
  // Nothing more can connect. The socket goes on for those who have.
  void remove_file();
  // The file stays for the processes that go on with the socket.
  void leave_file() { path_.clear(); }

 private:
  Descriptor fd_;
  std::string path_;  // empty: its file is not this object's
  SocketFile file_;
};

}  // namespace ingot::services_sockets
