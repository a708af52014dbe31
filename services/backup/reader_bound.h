// Judges whether a client takes its backup fast enough; if not, its call is cancelled.
#pragma once

#include <cstdint>

#include "services/backup/limits.h"

namespace ingot::inline services_backup {

// Counts time by the calls of look(), which are kBackupWatchMs apart, or more on a busy machine. Not thread-safe.
class ReaderBound {
 public:
  explicit ReaderBound(std::uint64_t file_bytes) : left_ms_(longest_ms(file_bytes)) {}

  // For the whole of a file.
  static std::int64_t longest_ms(std::uint64_t file_bytes) {
    return kBackupSendMs + static_cast<std::int64_t>(file_bytes) / kBackupBytesPerS * 1000;
  }

  // `parts`: how many the client has taken so far. False: it has taken none for kBackupStillMs, or the time for the
  // whole file is over.
  bool look(std::uint64_t parts) {
    still_ms_ = parts == parts_ ? still_ms_ + kBackupWatchMs : 0;
    parts_ = parts;
    left_ms_ -= kBackupWatchMs;
    return still_ms_ < kBackupStillMs && left_ms_ > 0;
  }

 private:
  std::int64_t left_ms_;
  std::int64_t still_ms_ = 0;
  std::uint64_t parts_ = 0;
};

}  // namespace ingot::services_backup
