#include "services/backup/source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/wire.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/format.h"
#include "replication/store/snapshot_head.h"
#include "services/backup/limits.h"

namespace ingot::inline services_backup {

namespace {

absl::Status unreadable(const std::string& why) {
  return absl::InternalError(absl::StrCat("the snapshot of the replicas cannot be read: ", why));
}

absl::StatusOr<std::string> read_at(int fd, std::uint64_t offset, std::size_t bytes) {
  std::string read(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(fd, read.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return unreadable(n < 0 ? std::strerror(errno) : "it is cut short");
    done += static_cast<std::size_t>(n);
  }
  return read;
}

// Where the store's bytes begin in a snapshot's file.
absl::StatusOr<std::uint64_t> store_begin(int fd, bool trees) {
  auto head = read_at(fd, kSnapshotHeaderBytes, Applier::kHeadStartBytes);
  if (!head.ok()) return head.status();
  const std::uint64_t head_bytes = Applier::head_bytes(*head);
  if (head_bytes == 0) return unreadable("its format is unknown");
  const std::uint64_t begin = kSnapshotHeaderBytes + head_bytes;
  if (!trees) return begin;
  auto length = read_at(fd, begin, sizeof(std::uint32_t));
  if (!length.ok()) return length.status();
  return begin + sizeof(std::uint32_t) + WireReader(*length).u32();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BackupSource>> BackupSource::open(std::shared_ptr<const HeldSnapshot> snapshot,
                                                                 const Origin& origin) {
  const int fd = snapshot->fd.get();
  struct stat info{};
  if (::fstat(fd, &info) != 0) return unreadable(std::strerror(errno));
  auto begin = store_begin(fd, origin.trees);
  if (!begin.ok()) return begin.status();
  auto first = read_at(fd, *begin, kv::kSnapshotHeadBytes);
  if (!first.ok()) return first.status();
  const auto head = kv::read_snapshot_head(*first);
  if (!head) return unreadable("the store's format is unknown");
  const BackupHeader header{origin.cluster_id, origin.made_unix_ms, head->revision, head->compacted, head->records,
                            static_cast<std::uint64_t>(info.st_size) - *begin};
  return std::unique_ptr<BackupSource>(new BackupSource(std::move(snapshot), header, *begin));
}

BackupSource::BackupSource(std::shared_ptr<const HeldSnapshot> snapshot, const BackupHeader& header,
                           std::uint64_t content_begin)
    : snapshot_(std::move(snapshot)),
      header_(header),
      read_at_(content_begin),
      content_left_(header.content_bytes),
      left_(backup_file_bytes(header.content_bytes)) {}

// The checksum goes out with the last part of the content.
absl::StatusOr<std::string> BackupSource::next() {
  if (left_ == 0) return std::string();
  const bool begins = left_ == backup_file_bytes(header_.content_bytes);
  std::string part = begins ? encode(header_) : std::string();
  constexpr std::size_t kEndBytes = kBackupBlockBytes + kSha256Bytes;
  const std::size_t room = kBackupPartBytes - kEndBytes - part.size();
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(content_left_, room));
  auto content = read_at(snapshot_->fd.get(), read_at_, bytes);
  if (!content.ok()) return content.status();
  part += *content;
  read_at_ += bytes;
  content_left_ -= bytes;
  if (content_left_ == 0) part.append(backup_padding_bytes(header_.content_bytes), '\0');
  hash_.add(part);
  if (content_left_ == 0) part += hash_.digest();
  left_ -= part.size();
  return part;
}

}  // namespace ingot::services_backup
