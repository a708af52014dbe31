// A snapshot of a replica as a file: what is sealed, kept by the supervisor, and sent from peer to peer.
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

namespace ingot {

inline constexpr std::size_t kSnapshotHeaderBytes = 48;

// Equal names: equal bytes, so that a transfer may go on with another peer's copy.
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

// A snapshot's file, which may be anybody's and anything.
struct SnapshotBytes {
  std::string_view file;
  std::shared_ptr<const void> memory{};  // of the file; null: it outlives who reads it
};

// Reads a whole file, which may be anybody's and anything. Errors: INVALID_ARGUMENT with a sentence that says what is
// wrong with it.
absl::StatusOr<SnapshotFile> read_snapshot(std::string_view file);

// The same without a look at the content's checksum, for those who know it: they have written the file, or checked each
// part as it came.
absl::StatusOr<SnapshotFile> read_snapshot_header(std::string_view file);

}  // namespace ingot
