// Turns a replica's snapshot into a backup while it is sent: sessions and trees are left out, and the store's bytes go
// between a header and a checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/backup/format.h"
#include "services/backup/held_snapshot.h"
#include "services/backup/sha256.h"

namespace ingot::inline services_backup {

// Memory: one part. Not thread-safe.
class BackupSource {
 public:
  struct Origin {
    std::uint64_t cluster_id = 0;
    std::int64_t made_unix_ms = 0;
    bool trees = false;  // the instance's broadcasts travel by trees, which its snapshots then hold
  };

  // Errors: INTERNAL (the snapshot is not one, or cannot be read).
  static absl::StatusOr<std::unique_ptr<BackupSource>> open(std::shared_ptr<const HeldSnapshot> snapshot,
                                                            const Origin& origin);

  // The next bytes of the file, at most kBackupPartBytes; empty: there are no more. Errors: INTERNAL.
  absl::StatusOr<std::string> next();
  // Bytes of the file that next() has not returned yet.
  std::uint64_t left() const { return left_; }
  const BackupHeader& header() const { return header_; }

 private:
  BackupSource(std::shared_ptr<const HeldSnapshot> snapshot, const BackupHeader& header, std::uint64_t content_begin);

  const std::shared_ptr<const HeldSnapshot> snapshot_;
  const BackupHeader header_;
  std::uint64_t read_at_;       // offset in the snapshot of the content that is read next
  std::uint64_t content_left_;
  std::uint64_t left_;
  Sha256 hash_;
};

}  // namespace ingot::services_backup
