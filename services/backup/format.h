// The file of a backup: the store of an instance as it was at one slot. docs/design/backups.md says why.
//
//    0  u64 magic "INGTBKP1"
//    8  u32 version            u32 zero
//   16  u64 cluster id         of the instance that was saved
//   24  i64 made               ms since the Unix epoch
//   32  i64 revision           the store's
//   40  i64 compacted          revision; -1: never
//   48  u64 records            keys that have versions, deleted ones included
//   56  u64 content bytes
//   64  content                what KvStore::save writes (replication/store/snapshot.cc)
//       zeros                  up to a multiple of kBackupBlockBytes
//       32 bytes               SHA-256 of all bytes before
//
// So the file's length is 32 above a multiple of 512, by which etcd's clients tell that a snapshot has its checksum.
// Numbers are little-endian. Sessions of clients are not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ingot::inline services_backup {

inline constexpr std::size_t kBackupHeaderBytes = 64;
inline constexpr std::size_t kBackupBlockBytes = 512;

struct BackupHeader {
  std::uint64_t cluster_id = 0;
  std::int64_t made_unix_ms = 0;
  std::int64_t revision = 0;
  std::int64_t compacted = -1;
  std::uint64_t records = 0;
  std::uint64_t content_bytes = 0;

  bool operator==(const BackupHeader&) const = default;
};

std::string encode(const BackupHeader& header);

std::uint64_t backup_padding_bytes(std::uint64_t content_bytes);
// Of the whole file.
std::uint64_t backup_file_bytes(std::uint64_t content_bytes);

struct BackupFile {
  BackupHeader header;
  std::string_view content;  // of the bytes that were read
  std::string sha256;        // as lower-case hexadecimal digits
};

// Of a file that begins with these bytes, which are not trusted. Errors as for read_backup.
absl::StatusOr<BackupHeader> read_backup_header(std::string_view begin);

// Reads a whole file from an untrusted source, and checks all but what the content says. Errors: INVALID_ARGUMENT with
// a sentence that says what is wrong with it.
absl::StatusOr<BackupFile> read_backup(std::string_view file);

}  // namespace ingot::services_backup
