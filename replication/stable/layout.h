// The bytes of a stable segment: fixed state in two cells, a ring of records, and the configuration in two cells.
//
//      0  u64 magic "INGTSTB1"       stored last, with release: a reader that sees it sees all of the first line
//      8  u32 layout version   u16 replica   u16 zero
//     16  u32 incarnation      u32 zero
//     24  u64 bytes of the ring
//     64  WriterLock
//    128  u64 flips            cell[flips % 2] is in force
//    192  cell 0               one line each (StableCell)
//    256  cell 1
//    320  u64 head             no record before that position counts; records after it may count
//    384  u64 tail             position after the newest record
//    392  u64 accepted end     above every slot that was ever voted for here
//    448  u64 configuration flips   0: none was stored; otherwise configuration cell [flips % 2] is in force
//   4096  ring
//   then  configuration cell 0, configuration cell 1: as many bytes each as stable_configuration_cell_bytes() says,
//         u64 checksum, u64 bytes, content (StableConfigurationCell)
//
// A position counts bytes from the segment's first record on, and never goes back; it lies at position % ring bytes. 0
// <= tail - head <= ring bytes. Records do not wrap: one that would is preceded by a skip record, which reaches to the
// ring's end (or by nothing, if not even its header fits there).
//
// Published state is never torn, wherever its writer dies. The writer fills the cell that is not in force, then stores
// `flips` with release, for the fixed state and the configuration alike. It completes a record before it stores `tail`
// with release, and reuses a record's bytes only after it has stored `head`.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/shared_cell.h"
#include "core/stable_hash.h"
#include "replication/requests/limits.h"
#include "replication/stable/limits.h"
#include "replication/stable/write.h"
#include "transport/host/limits.h"
#include "transport/host/writer_lock.h"

namespace ingot::inline replication_stable {

inline constexpr std::uint64_t kStableMagic = 0x31'4254'5354'474e'49;  // "INGTSTB1", first byte lowest
inline constexpr std::uint32_t kStableLayoutVersion = 3;
inline constexpr std::size_t kStableRingOffset = 4096;
inline constexpr std::size_t kStableRecordAlignment = 8;

// All stored state besides the records. Written as words: a reader of a living writer's segment sees garbage at worst,
// which the checksum detects.
struct StableFixed {
  std::uint64_t epoch = 0;           // as acceptor or voter
  std::uint64_t promised = 0;        // ballot
  std::uint64_t trimmed = 0;         // votes and outcomes below this slot, of whatever epoch, are no longer needed
  std::uint64_t leader_epoch = 0;    // as leader
  std::uint64_t leader_ballot = 0;   // of the last completed takeover; 0: none
  std::uint64_t leader_trimmed = 0;  // proposals of that ballot below this slot are no longer needed
  bool operator==(const StableFixed&) const = default;
};
inline constexpr std::size_t kStableFixedWords = sizeof(StableFixed) / sizeof(std::uint64_t);

struct alignas(64) StableCell {
  SharedCell<std::uint64_t> words[kStableFixedWords];
  SharedCell<std::uint64_t> checksum;  // of words, seeded with the flip that put them in force
};

struct StableHeader {
  SharedCell<std::uint64_t> magic;
  SharedCell<std::uint32_t> layout_version;
  SharedCell<std::uint16_t> replica;
  std::uint16_t zero16;
  SharedCell<std::uint32_t> incarnation;
  std::uint32_t zero32;
  SharedCell<std::uint64_t> ring_bytes;
  WriterLock lock;
  alignas(64) SharedCell<std::uint64_t> flips;
  StableCell cells[2];
  alignas(64) SharedCell<std::uint64_t> head;
  alignas(64) SharedCell<std::uint64_t> tail;
  SharedCell<std::uint64_t> accepted_end;
  alignas(64) SharedCell<std::uint64_t> configuration_flips;
};
static_assert(offsetof(StableHeader, layout_version) == 8 && offsetof(StableHeader, replica) == 12);
static_assert(offsetof(StableHeader, incarnation) == 16 && offsetof(StableHeader, ring_bytes) == 24);
static_assert(offsetof(StableHeader, lock) == 64 && offsetof(StableHeader, flips) == 128);
static_assert(offsetof(StableHeader, cells) == 192 && sizeof(StableCell) == 64);
static_assert(offsetof(StableHeader, head) == 320 && offsetof(StableHeader, tail) == 384);
static_assert(offsetof(StableHeader, accepted_end) == 392);
static_assert(offsetof(StableHeader, configuration_flips) == 448);
static_assert(sizeof(StableHeader) <= kStableRingOffset);

// Header of a configuration cell; the content follows.
struct StableConfigurationCell {
  std::uint64_t checksum;  // of the content, seeded with the flip that put it in force
  std::uint64_t bytes;
};
inline constexpr std::size_t kStableConfigurationCellBytes =
    (sizeof(StableConfigurationCell) + kStableConfigurationBytesMax + 4095) / 4096 * 4096;

// Size of each cell in a segment of `segment_bytes`. Only tests' segments are too small for the largest configuration.
inline constexpr std::size_t stable_configuration_cell_bytes(std::size_t segment_bytes) {
  const std::size_t tenth = segment_bytes / 10 / 4096 * 4096;
  return tenth < kStableConfigurationCellBytes ? tenth : kStableConfigurationCellBytes;
}

inline constexpr std::size_t stable_ring_bytes(std::size_t segment_bytes) {
  return segment_bytes - kStableRingOffset - 2 * stable_configuration_cell_bytes(segment_bytes);
}

enum class StableRecordKind : std::uint32_t { kSkip = 0, kAccepted = 1, kProposed = 2, kOutcome = 3 };

//   0  u64 checksum        of all fields below but the zeros, and of the position, so that a stale record fails
//   8  u32 kind            u32 bytes of the command (skip: bytes of the whole record)
//  16  u64 epoch
//  24  u64 ballot          outcome: 1 committed, 0 aborted
//  32  u64 slot
//  40  command, and zeros up to a multiple of 8
struct StableRecord {
  std::uint64_t checksum;
  StableRecordKind kind;
  std::uint32_t bytes;
  std::uint64_t epoch;
  std::uint64_t ballot;
  std::uint64_t slot;
};

// Whether a record still counts; a skip never does. Outcomes count for their epoch only. Votes of earlier epochs are
// history, since what a 1Paxos acceptor stored was chosen. Proposals of ballots above the last completed takeover all
// count: their own takeover may be about to complete.
inline bool stable_record_counts(const StableRecord& record, const StableFixed& fixed) {
  if (record.kind == StableRecordKind::kSkip) return false;
  if (record.kind == StableRecordKind::kAccepted) return record.epoch <= fixed.epoch && record.slot >= fixed.trimmed;
  if (record.kind == StableRecordKind::kOutcome) return record.epoch == fixed.epoch && record.slot >= fixed.trimmed;
  if (record.ballot != fixed.leader_ballot) return record.ballot > fixed.leader_ballot;
  return record.slot >= fixed.leader_trimmed;
}

// What a record tells a reader. Of several records that count and have the same key, one holds: of votes of earlier
// epochs that of the newest epoch, otherwise the last one.
struct StableRecordKey {
  StableRecordKind kind;
  std::uint64_t epoch;   // votes: 1 for the epoch in force, 0 for all earlier ones; otherwise 0
  std::uint64_t ballot;  // proposals only
  std::uint64_t slot;
  bool operator==(const StableRecordKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const StableRecordKey& key) {
    return H::combine(std::move(state), static_cast<std::uint32_t>(key.kind), key.epoch, key.ballot, key.slot);
  }
};

inline StableRecordKey stable_record_key(const StableRecord& record, const StableFixed& fixed) {
  const bool vote = record.kind == StableRecordKind::kAccepted;
  const bool proposal = record.kind == StableRecordKind::kProposed;
  return {record.kind, vote && record.epoch == fixed.epoch ? std::uint64_t{1} : 0, proposal ? record.ballot : 0,
          record.slot};
}

static_assert(sizeof(StableRecord) == 40 && std::endian::native == std::endian::little);

// Size in the ring of a record whose command has `command_bytes`.
inline constexpr std::size_t stable_record_bytes(std::size_t command_bytes) {
  const std::size_t bytes = sizeof(StableRecord) + command_bytes;
  return (bytes + kStableRecordAlignment - 1) / kStableRecordAlignment * kStableRecordAlignment;
}

// The same for the record of a write; 0 if the write has none.
inline std::size_t stable_record_bytes(const StableWrite& write) {
  using Kind = StableWrite::Kind;
  const bool has_record =
      write.kind == Kind::kAccepted || write.kind == Kind::kProposed || write.kind == Kind::kOutcome;
  return has_record ? stable_record_bytes(write.command == nullptr ? 0 : write.command->size()) : 0;
}

inline std::uint64_t stable_checksum(const StableRecord& record, std::string_view command, std::uint64_t position) {
  const char* fields = reinterpret_cast<const char*>(&record) + sizeof record.checksum;
  return hash_bytes(command, hash_bytes({fields, sizeof record - sizeof record.checksum}, position));
}

inline std::uint64_t stable_checksum(const StableFixed& fixed, std::uint64_t flip) {
  return hash_bytes({reinterpret_cast<const char*>(&fixed), sizeof fixed}, flip);
}

static_assert(kStableSegmentBytes > kStableRingOffset && kStableSegmentBytes <= kSegmentBytesMax);
static_assert(kBatchBytesMax <= ~std::uint32_t{0}, "a record's length is 32 bits");
static_assert(stable_configuration_cell_bytes(kStableSegmentBytes) == kStableConfigurationCellBytes);

}  // namespace ingot::replication_stable
