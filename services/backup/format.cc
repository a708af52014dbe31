#include "services/backup/format.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/wire.h"
#include "services/backup/sha256.h"

namespace ingot::inline services_backup {

namespace {

constexpr std::uint64_t kMagic = 0x31'50'4b'42'54'47'4e'49;  // "INGTBKP1", first byte lowest
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kZeroOffset = 12;

absl::Status refused(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("is not a whole snapshot of Ingot: ", why));
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digest();
}

}  // namespace

std::string encode(const BackupHeader& header) {
  WireWriter out(kBackupHeaderBytes);
  out.u64(kMagic).u32(kVersion).u32(0).u64(header.cluster_id).i64(header.made_unix_ms);
  out.i64(header.revision).i64(header.compacted).u64(header.records).u64(header.content_bytes);
  return out.take();
}

std::uint64_t backup_padding_bytes(std::uint64_t content_bytes) {
  const std::uint64_t over = (kBackupHeaderBytes + content_bytes) % kBackupBlockBytes;
  return over == 0 ? 0 : kBackupBlockBytes - over;
}

std::uint64_t backup_file_bytes(std::uint64_t content_bytes) {
  return kBackupHeaderBytes + content_bytes + backup_padding_bytes(content_bytes) + kSha256Bytes;
}

absl::StatusOr<BackupHeader> read_backup_header(std::string_view begin) {
  WireReader in(begin.substr(0, kBackupHeaderBytes));
  if (in.u64() != kMagic && !in.failed()) return refused("it is another format");
  if (begin.size() < kBackupHeaderBytes) return refused("it is cut short");
  if (const std::uint32_t version = in.u32(); version != kVersion) {
    return refused(absl::StrCat("its format has version ", version, ", and this program reads version ", kVersion));
  }
  in.u32();  // checked with the padding
  BackupHeader header;
  header.cluster_id = in.u64();
  header.made_unix_ms = in.i64();
  header.revision = in.i64();
  header.compacted = in.i64();
  header.records = in.u64();
  header.content_bytes = in.u64();
  return header;
}

absl::StatusOr<BackupFile> read_backup(std::string_view file) {
  const auto header = read_backup_header(file);
  if (!header.ok()) return header.status();
  BackupFile read;
  read.header = *header;
  const std::uint64_t content = read.header.content_bytes;
  if (content >= file.size() || backup_file_bytes(content) > file.size()) {
    return refused("it is cut short");
  }
  if (backup_file_bytes(content) != file.size()) return refused("bytes follow its end");
  const std::string_view hashed = file.substr(0, file.size() - kSha256Bytes);
  const std::string_view sum = file.substr(hashed.size());
  if (sha256_of(hashed) != sum) return refused("its checksum is wrong, so some of its bytes were changed");
  read.content = hashed.substr(kBackupHeaderBytes, content);
  const std::string_view padding = hashed.substr(kBackupHeaderBytes + content);
  const bool zero = WireReader(file.substr(kZeroOffset, sizeof(std::uint32_t))).u32() == 0;
  if (!zero || padding.find_first_not_of('\0') != std::string_view::npos) {
    return refused("bytes that must be zero are not");
  }
  read.sha256 = absl::BytesToHexString(std::string(sum));
  return read;
}

}  // namespace ingot::services_backup
