#include "replication/replica/snapshots/format.h"

#include "core/stable_hash.h"
#include "core/wire.h"
#include "replication/agreement/limits.h"
#include "replication/replica/snapshots/limits.h"

namespace ingot::inline replication_replica_snapshots {

namespace {

constexpr std::uint64_t kMagic = 0x32'50'4e'53'54'47'4e'49;  // "INGTSNP2", first byte lowest
constexpr std::uint32_t kVersion = 1;

absl::Status refused(const char* why) {
  return absl::InvalidArgumentError(std::string("the file is not a snapshot of a replica: ") + why);
}

std::uint64_t checksum_of(std::string_view content) {
  RunningHash hash;
  hash.add(content);
  return hash.value();
}

}  // namespace

std::string snapshot_header(const SnapshotName& name) {
  WireWriter out(kSnapshotHeaderBytes);
  out.u64(kMagic).u32(kVersion).u32(0).u64(name.slot.value()).u64(name.bytes).u64(name.checksum);
  out.u64(hash_bytes(out.view()));
  return out.take();
}

std::string snapshot_header(Slot slot, std::string_view content) {
  return snapshot_header({slot, kSnapshotHeaderBytes + content.size(), checksum_of(content)});
}

absl::StatusOr<SnapshotFile> read_snapshot_header(std::string_view file) {
  if (file.size() < kSnapshotHeaderBytes) return refused("it is cut short");
  WireReader in(file.substr(0, kSnapshotHeaderBytes));
  if (in.u64() != kMagic) return refused("the format is unknown");
  if (in.u32() != kVersion) return refused("its version is another one");
  const std::uint32_t zero = in.u32();
  SnapshotFile result;
  result.name.slot = Slot(in.u64());
  result.name.bytes = in.u64();
  result.name.checksum = in.u64();
  if (in.u64() != hash_bytes(file.substr(0, kSnapshotHeaderBytes - sizeof(std::uint64_t))) || zero != 0) {
    return refused("its header's checksum is wrong");
  }
  if (result.name.slot.value() > kSlotsMax) return refused("its slot is too large");
  if (result.name.bytes != file.size()) return refused("it is cut short, or too long");
  result.content = file.substr(kSnapshotHeaderBytes);
  return result;
}

absl::StatusOr<SnapshotFile> read_snapshot(std::string_view file) {
  auto result = read_snapshot_header(file);
  if (result.ok() && checksum_of(result->content) != result->name.checksum) return refused("its checksum is wrong");
  return result;
}

}  // namespace ingot::replication_replica_snapshots
