// A replica's own stable state (promises, votes and proposals) in a sealed memory segment. One thread writes it; all
// other processes may read it, above all after the writer's death (replication/stable/view.h).
//
// Layout, byte by byte: replication/stable/layout.h. A store is visible to readers when it returns, never in parts: a
// writer that dies inside it leaves the state before or the state after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/stable/layout.h"
#include "replication/stable/slot_order.h"
#include "replication/stable/store.h"
#include "replication/stable/write.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_stable {

// Used by one thread, the writer, from open to destruction. It holds the segment's WriterLock all that time.
class StableSegment final : public StableStore {
 public:
  // Maps the segment, seals it against every other writer, and takes its lock. A new incarnation needs a new segment. A
  // segment of kStableSegmentBytes holds all that the bounds of agreement allow; only tests use smaller ones. Errors:
  // INVALID_ARGUMENT (not a segment, or smaller than `bytes_min`), FAILED_PRECONDITION (it already had a writer),
  // others as for Segment::map.
  static absl::StatusOr<std::unique_ptr<StableSegment>> open(int fd, EndpointId self, Incarnation incarnation,
                                                             std::size_t bytes_min = kStableSegmentBytes);

  ~StableSegment() override;
  StableSegment(const StableSegment&) = delete;
  StableSegment& operator=(const StableSegment&) = delete;

  // Executes one write. Returns false, with nothing stored, if there is no room until kTrimmed frees some; only
  // kAccepted, kProposed, kOutcome and a kConfiguration above its bound need room.
  //
  //  kPromise   a newer epoch replaces the acceptor's state in one step: earlier votes become history
  //  kAccepted, kOutcome   of an epoch not promised before (2PC promises none): likewise, with ballot 0, then stored
  //  kLeading   proposals of older ballots, and of this one below `slot`, are no longer needed: so a leader stores it
  //             after the proposals that it repeats
  //  kTrimmed   votes and outcomes, and proposals of the leadership in force, of slots below it are no longer needed
  //  kConfiguration   replaces the former configuration
  //
  // REQUIRES: epochs and ballots of promises and leaderships do not go back; a command is at most kBatchBytesMax bytes.
  [[nodiscard]] bool store(const StableWrite& write) override;

  // The size of the ring, in bytes, and how much of it is in use. Records that a change of roles has made obsolete
  // count as used until later writes free them bit by bit. Trimming frees all obsolete records, in the order of
  // storing.
  std::size_t capacity_bytes() const override { return ring_bytes_; }
  std::size_t used_bytes() const override { return tail_ - head_; }

  // Takes milliseconds if they are MiB. For callers that would otherwise have to give up a message or a proposal for
  // lack of room.
  void make_room() override { free_records(kAllRecords); }

  // For a ring that is 80 % full it takes 10 ms if records have 4,000 bytes and up to 200 ms if they have 60. So it has
  // no effect before a sixteenth of the ring was stored since the last time, while less than that would become free, or
  // if no leadership, vote or epoch has taken an older one's place. store() does it, too, when less than an eighth is
  // free: the first record that is moved needs room.
  void clean() override;

 private:
  static constexpr std::size_t kFreeRecordsPerWrite = 16;
  static constexpr std::size_t kAllRecords = SIZE_MAX;
  static constexpr std::size_t kCleanParts = 16;     // of the ring: the least that clean() is worth
  static constexpr std::size_t kCleanFreeParts = 8;  // likewise: store() cleans if less is free

  struct RingRecord : StableRecord {
    std::size_t ring_bytes;  // that it takes
  };
  // What a reader would keep.
  struct HoldingRecords {
    absl::flat_hash_map<StableRecordKey, std::uint64_t> positions;  // of the record that holds for each key
    std::size_t bytes = 0;                                          // of these
    std::size_t skipped_bytes = 0;                                  // of skips
    SlotOrder order;                                                // of all records that count
  };

  explicit StableSegment(Segment segment);

  void promise(std::uint64_t epoch, std::uint64_t ballot);
  void lead(std::uint64_t epoch, std::uint64_t ballot, std::uint64_t first);
  bool configure(std::string_view content);
  void trim(std::uint64_t keep_from);
  bool vote(StableRecordKind kind, const StableWrite& write);
  void publish_fixed();
  std::size_t skipped_before(std::size_t record_bytes) const;
  bool has_room(std::size_t command_bytes) const;
  bool append(StableRecordKind kind, const StableWrite& write);
  std::uint64_t begin_record(std::size_t record_bytes);
  void write_record(std::uint64_t position, StableRecord record, std::string_view command);
  void write_skip(std::uint64_t position, std::size_t bytes);
  void free_records(std::size_t most);
  HoldingRecords holding_records() const;
  bool move(const RingRecord& oldest);
  RingRecord record_at(std::uint64_t position) const;
  void publish_head() { header_.head.store(head_, std::memory_order_release); }  // pairs with StableView::read
  void publish_tail() { header_.tail.store(tail_, std::memory_order_release); }  // pairs with StableView::read
  std::byte* at(std::uint64_t position) const { return ring_ + position % ring_bytes_; }
  std::size_t to_end(std::uint64_t position) const { return ring_bytes_ - position % ring_bytes_; }

  Segment segment_;
  StableHeader& header_;
  std::byte* const ring_;
  const std::size_t ring_bytes_;
  StableFixed fixed_;         // as published
  std::uint64_t flips_ = 0;   // likewise
  std::uint64_t configuration_flips_ = 0;  // likewise
  std::uint64_t head_ = 0;    // likewise
  std::uint64_t tail_ = 0;    // likewise
  std::uint64_t cleaned_tail_ = 0;  // the tail after the last cleaning
  SlotOrder order_;                 // of the ring's records
};

}  // namespace ingot::replication_stable
