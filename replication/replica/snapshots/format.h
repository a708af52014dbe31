// The file format of a replica's snapshot. The file is sealed, kept by the supervisor, and sent from peer to peer.
//
//    0  u64 magic "INGTSNP2"
//    8  u32 version          u32 zero
//   16  u64 slot             slots below it are in the snapshot
//   24  u64 bytes            of the whole file
//   32  u64 checksum         of the content, a RunningHash (core/stable_hash.h)
//   40  u64 checksum         of the 40 bytes before
//   48  content              what Applier::save writes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/types.h"

namespace ingot::inline replication_replica_snapshots {

inline constexpr std::size_t kSnapshotHeaderBytes = 48;

// Files with equal names have equal bytes, so a transfer may go on with another peer's copy.
struct SnapshotName {
  Slot slot;
  std::uint64_t bytes = 0;  // of the file; 0: no name
  std::uint64_t checksum = 0;

  bool operator==(const SnapshotName&) const = default;
};

// The header of a file with that name.
std::string snapshot_header(const SnapshotName& name);
// The header of a file with that content.
std::string snapshot_header(Slot slot, std::string_view content);

struct SnapshotFile {
  SnapshotName name;
  std::string_view content;  // of the bytes that were read
};

// The bytes of a snapshot's file. Their source is not trusted: any content is possible.
struct SnapshotBytes {
  std::string_view file;
  std::shared_ptr<const void> memory{};  // owns the file's bytes; null: they outlive the reader
};

// Reads a whole file from an untrusted source. Errors: INVALID_ARGUMENT with a sentence that says what is wrong with
// it.
absl::StatusOr<SnapshotFile> read_snapshot(std::string_view file);

// The same without a check of the content's checksum: for a caller that has written the file itself, or has checked
// each part on arrival.
absl::StatusOr<SnapshotFile> read_snapshot_header(std::string_view file);

}  // namespace ingot::replication_replica_snapshots
