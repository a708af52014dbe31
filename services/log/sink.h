// A descriptor that is written without ever waiting for its reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot::inline services_log {

// Thread-safe.
class LogSink {
 public:
  // Writes to the descriptor as it is: with O_NONBLOCK off, a write may wait.
  explicit LogSink(int fd) : fd_(fd) {}

  // Never waits. The flags of the open file that `fd` refers to stay as they are, since it is shared with whatever
  // started this process, as a shell: `fd` of this process is made to refer to another open file of the same pipe or
  // terminal (docs/design/supervision.md#the-log-never-waits).
  static LogSink never_waiting(int fd);

  // Writes `text` and returns how many of its bytes were written; 0: there is no room, or there was an error. At most
  // PIPE_BUF bytes are written to a pipe as a whole or not at all; other kinds may take a part.
  std::size_t write(std::string_view text) const;

  // Waits until there is room for something, at most `timeout_ms`.
  bool wait_for_room(int timeout_ms) const;

 private:
  enum class Way : std::uint8_t { kWrite, kSend, kSplice, kAskFirst };

  int fd_;
  Way way_ = Way::kWrite;
};

}  // namespace ingot::services_log
