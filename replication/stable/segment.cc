#include "replication/stable/segment.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/shared_cell.h"

namespace ingot::inline replication_stable {
namespace {

using Kind = StableWrite::Kind;

std::string_view command_of(const StableWrite& write) {
  return write.command != nullptr ? std::string_view(*write.command) : std::string_view();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StableSegment>> StableSegment::open(int fd, EndpointId self, Incarnation incarnation,
                                                                   std::size_t bytes_min) {
  if (new_writers_forbidden(fd)) {
    return absl::FailedPreconditionError(absl::StrCat("the stable segment of replica ", self.value(),
                                                      " had a writer already: a new incarnation needs a new one"));
  }
  auto segment = Segment::map(fd, Segment::Access::kReadWrite);
  if (!segment.ok()) return segment.status();
  if (segment->size() < bytes_min || segment->size() <= kStableRingOffset) {
    return absl::InvalidArgumentError(
        absl::StrCat("a stable segment has at least ", bytes_min, " bytes, not ", segment->size()));
  }
  if (auto status = forbid_new_writers(fd); !status.ok()) return status;
  auto stable = std::unique_ptr<StableSegment>(new StableSegment(*std::move(segment)));
  StableHeader& header = stable->header_;
  header.layout_version.store(kStableLayoutVersion, std::memory_order_relaxed);
  header.replica.store(self.value(), std::memory_order_relaxed);
  header.incarnation.store(incarnation.value(), std::memory_order_relaxed);
  header.ring_bytes.store(stable->ring_bytes_, std::memory_order_relaxed);
  header.lock.acquire();
  stable->publish_fixed();
  header.magic.store(kStableMagic, std::memory_order_release);  // pairs with StableView::read
  return stable;
}

StableSegment::StableSegment(Segment segment)
    : segment_(std::move(segment)),
      header_(*segment_.as<StableHeader>()),
      ring_(segment_.data() + kStableRingOffset),
      ring_bytes_(stable_ring_bytes(segment_.size())) {}

StableSegment::~StableSegment() { header_.lock.release(); }

bool StableSegment::store(const StableWrite& write) {
  switch (write.kind) {
    case Kind::kPromise:
      promise(write.epoch.value(), write.ballot.value());
      return true;
    case Kind::kLeading:
      lead(write.epoch.value(), write.ballot.value(), write.slot.value());
      return true;
    case Kind::kTrimmed:
      trim(write.slot.value());
      return true;
    case Kind::kProposed:
      return append(StableRecordKind::kProposed, write);
    case Kind::kAccepted:
      return vote(StableRecordKind::kAccepted, write);
    case Kind::kOutcome:
      return vote(StableRecordKind::kOutcome, write);
    case Kind::kConfiguration:
      return configure(command_of(write));
  }
  INGOT_CHECK(false, "a write has one of these kinds");
}

void StableSegment::promise(std::uint64_t epoch, std::uint64_t ballot) {
  INGOT_CHECK(std::tie(epoch, ballot) >= std::tie(fixed_.epoch, fixed_.promised), "a promise is kept");
  if (epoch != fixed_.epoch) order_.roles_changed();
  fixed_.epoch = epoch;
  fixed_.promised = ballot;
  publish_fixed();
}

void StableSegment::lead(std::uint64_t epoch, std::uint64_t ballot, std::uint64_t first) {
  INGOT_CHECK(epoch >= fixed_.leader_epoch && ballot >= fixed_.leader_ballot, "leaderships only get newer");
  order_.roles_changed();
  const bool again = ballot == fixed_.leader_ballot;
  fixed_.leader_trimmed = again ? std::max(fixed_.leader_trimmed, first) : first;
  fixed_.leader_epoch = epoch;
  fixed_.leader_ballot = ballot;
  publish_fixed();
}

void StableSegment::trim(std::uint64_t keep_from) {
  const StableFixed before = fixed_;
  fixed_.trimmed = std::max(fixed_.trimmed, keep_from);
  fixed_.leader_trimmed = std::max(fixed_.leader_trimmed, keep_from);
  if (fixed_ != before) publish_fixed();
  free_records(kAllRecords);
}

// Stores a vote or an outcome. The first one of a new epoch begins that epoch. For readers both happen in one step: the
// record does not count before the epoch is in force.
bool StableSegment::vote(StableRecordKind kind, const StableWrite& write) {
  INGOT_CHECK(write.epoch.value() >= fixed_.epoch, "only the newest epoch is voted in");
  if (!append(kind, write)) return false;
  if (write.epoch.value() > fixed_.epoch) promise(write.epoch.value(), 0);
  return true;
}

// Writes the cell that is not in force, then switches to it.
void StableSegment::publish_fixed() {
  const std::uint64_t flip = flips_ + 1;
  StableCell& cell = header_.cells[flip % 2];
  std::uint64_t words[kStableFixedWords];
  std::memcpy(words, &fixed_, sizeof words);
  for (std::size_t i = 0; i < kStableFixedWords; ++i) cell.words[i].store(words[i], std::memory_order_relaxed);
  cell.checksum.store(stable_checksum(fixed_, flip), std::memory_order_relaxed);
  header_.flips.store(flip, std::memory_order_release);  // pairs with StableView::read
  flips_ = flip;
}

// Fills the cell that is not in force, then switches to it.
bool StableSegment::configure(std::string_view content) {
  const std::size_t cell_bytes = stable_configuration_cell_bytes(segment_.size());
  if (sizeof(StableConfigurationCell) + content.size() > cell_bytes) return false;
  const std::uint64_t flip = configuration_flips_ + 1;
  std::byte* const out = ring_ + ring_bytes_ + (flip % 2) * cell_bytes;
  const StableConfigurationCell cell{.checksum = hash_bytes(content, flip), .bytes = content.size()};
  copy_to_shared(out, &cell, sizeof cell);
  copy_to_shared(out + sizeof cell, content.data(), content.size());
  header_.configuration_flips.store(flip, std::memory_order_release);  // pairs with StableView::read
  configuration_flips_ = flip;
  return true;
}

// Unused bytes between the tail and a record of `record_bytes`, since records do not wrap.
std::size_t StableSegment::skipped_before(std::size_t record_bytes) const {
  return to_end(tail_) < record_bytes ? to_end(tail_) : 0;
}

bool StableSegment::has_room(std::size_t command_bytes) const {
  INGOT_CHECK(command_bytes <= kBatchBytesMax, "one slot agrees on a bounded batch");
  const std::size_t bytes = stable_record_bytes(command_bytes);
  return used_bytes() + skipped_before(bytes) + bytes <= ring_bytes_;
}

bool StableSegment::append(StableRecordKind kind, const StableWrite& write) {
  const std::string_view command = command_of(write);
  free_records(kFreeRecordsPerWrite);
  if (!has_room(command.size())) free_records(kAllRecords);
  if (used_bytes() > ring_bytes_ - ring_bytes_ / kCleanFreeParts) clean();
  if (!has_room(command.size())) return false;
  const std::size_t bytes = stable_record_bytes(command.size());
  write_record(begin_record(bytes),
               {.checksum = 0,
                .kind = kind,
                .bytes = static_cast<std::uint32_t>(command.size()),
                .epoch = write.epoch.value(),
                .ballot = write.ballot.value(),
                .slot = write.slot.value()},
               command);
  tail_ += bytes;
  const bool newest = order_.add(kind, write.slot.value());
  if (kind == StableRecordKind::kAccepted && newest) {
    header_.accepted_end.store(write.slot.next().value(), std::memory_order_relaxed);
  }
  publish_tail();
  return true;
}

// Moves the tail, not yet published, to where the record fits. REQUIRES: there is room.
std::uint64_t StableSegment::begin_record(std::size_t record_bytes) {
  const std::size_t skipped = skipped_before(record_bytes);
  if (skipped > 0) write_skip(tail_, skipped);
  tail_ += skipped;
  return tail_;
}

void StableSegment::write_record(std::uint64_t position, StableRecord record, std::string_view command) {
  record.checksum = stable_checksum(record, command, position);
  std::byte* const out = at(position);
  copy_to_shared(out, &record, sizeof record);
  copy_to_shared(out + sizeof record, command.data(), command.size());
  constexpr char kZeros[kStableRecordAlignment] = {};
  const std::size_t written = sizeof record + command.size();
  copy_to_shared(out + written, kZeros, stable_record_bytes(command.size()) - written);
}

void StableSegment::write_skip(std::uint64_t position, std::size_t bytes) {
  if (bytes < sizeof(StableRecord)) return;  // readers skip what cannot hold a header
  StableRecord record{.checksum = 0,
                      .kind = StableRecordKind::kSkip,
                      .bytes = static_cast<std::uint32_t>(bytes),
                      .epoch = 0,
                      .ballot = 0,
                      .slot = 0};
  record.checksum = stable_checksum(record, {}, position);
  copy_to_shared(at(position), &record, sizeof record);
}

// Moves the head over the oldest obsolete records. A change of roles leaves MiB of them. Freeing them all takes a
// millisecond or two, for which the group would wait; so each later write frees a few.
void StableSegment::free_records(std::size_t most) {
  const std::uint64_t before = head_;
  for (std::size_t freed = 0; head_ != tail_ && freed < most; ++freed) {
    const RingRecord oldest = record_at(head_);
    if (stable_record_counts(oldest, fixed_)) break;
    head_ += oldest.ring_bytes;
  }
  if (head_ != before) publish_head();
}

// ---- Cleaning -------------------------------------------------------------------------------------------------------

// Goes round the ring once: frees what no reader needs, and moves the rest behind the newest record. A record that does
// not fit there ends the round. The moved record is published before the original is freed, so a writer that dies in
// between leaves both, which tell readers the same.
void StableSegment::clean() {
  const std::size_t worth = ring_bytes_ / kCleanParts;
  if (tail_ - cleaned_tail_ < worth) return;
  cleaned_tail_ = tail_;
  if (!order_.broken()) return;
  const HoldingRecords holding = holding_records();
  order_.found(holding.order, used_bytes() > holding.bytes + holding.skipped_bytes);
  if (used_bytes() - holding.bytes < worth) return;
  for (const std::uint64_t end = tail_; head_ < end;) {
    const RingRecord oldest = record_at(head_);
    const auto found = holding.positions.find(stable_record_key(oldest, fixed_));
    if (found != holding.positions.end() && found->second == head_ && !move(oldest)) break;
    head_ += oldest.ring_bytes;
    publish_head();  // before the next record overwrites the freed bytes
  }
  cleaned_tail_ = tail_;
}

StableSegment::HoldingRecords StableSegment::holding_records() const {
  HoldingRecords holding;
  for (std::uint64_t position = head_; position < tail_;) {
    const RingRecord record = record_at(position);
    if (record.kind == StableRecordKind::kSkip) {
      holding.skipped_bytes += record.ring_bytes;
    } else if (stable_record_counts(record, fixed_)) {
      holding.order.add(record.kind, record.slot);
      const auto [known, is_new] = holding.positions.try_emplace(stable_record_key(record, fixed_), position);
      const RingRecord before = record_at(known->second);
      if (is_new || record.epoch >= before.epoch) {
        holding.bytes += record.ring_bytes - (is_new ? 0 : before.ring_bytes);
        known->second = position;
      }
    }
    position += record.ring_bytes;
  }
  return holding;
}

// Copies the oldest record behind the newest one. False: it does not fit there.
bool StableSegment::move(const RingRecord& oldest) {
  if (!has_room(oldest.bytes)) return false;
  const char* const command = reinterpret_cast<const char*>(at(head_)) + sizeof(StableRecord);
  write_record(begin_record(oldest.ring_bytes), oldest, {command, oldest.bytes});
  tail_ += oldest.ring_bytes;
  publish_tail();
  return true;
}

// The record at a position, or a skip to the ring's end.
StableSegment::RingRecord StableSegment::record_at(std::uint64_t position) const {
  RingRecord record{};
  const std::size_t left = to_end(position);
  if (left < sizeof(StableRecord)) {
    record.ring_bytes = left;
    return record;
  }
  std::memcpy(static_cast<StableRecord*>(&record), at(position), sizeof(StableRecord));
  record.ring_bytes = record.kind == StableRecordKind::kSkip ? record.bytes : stable_record_bytes(record.bytes);
  return record;
}

}  // namespace ingot::replication_stable
