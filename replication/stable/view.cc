#include "replication/stable/view.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "core/shared_cell.h"
#include "replication/requests/limits.h"
#include "replication/stable/layout.h"

namespace ingot::inline replication_stable {
namespace {

absl::Status corrupt(const char* what) { return absl::DataLossError(absl::StrCat("not a stable segment: ", what)); }

// The fixed state in force, or nothing if its checksum does not match.
std::optional<StableFixed> read_fixed(const StableHeader& header) {
  const std::uint64_t flip = header.flips.load(std::memory_order_acquire);  // pairs with publish_fixed
  const StableCell& cell = header.cells[flip % 2];
  std::uint64_t words[kStableFixedWords];
  for (std::size_t i = 0; i < kStableFixedWords; ++i) words[i] = cell.words[i].load(std::memory_order_relaxed);
  StableFixed fixed;
  std::memcpy(&fixed, words, sizeof fixed);
  if (cell.checksum.load(std::memory_order_relaxed) != stable_checksum(fixed, flip)) return std::nullopt;
  return fixed;
}

// Walks the records between two positions. next() hands out checked copies; of commands of slots below `from` it checks
// the bytes and copies nothing.
class RecordReader {
 public:
  RecordReader(std::span<const std::byte> ring, std::uint64_t head, std::uint64_t tail, Slot from)
      : ring_(ring), position_(head), tail_(tail), from_(from) {}

  bool done() const { return position_ == tail_; }

  // Reads one record, or skips to the ring's start (then kSkip). False: the bytes are not a record.
  bool next() {
    const std::size_t left = std::min<std::uint64_t>(ring_.size() - position_ % ring_.size(), tail_ - position_);
    const bool at_tail = left == tail_ - position_;
    command.clear();
    record.kind = StableRecordKind::kSkip;
    if (left < sizeof record) {
      if (at_tail) return false;  // invalid: a writer skips only before a record
      position_ += left;
      return true;
    }
    const std::byte* const from = ring_.data() + position_ % ring_.size();
    copy_from_shared(&record, from, sizeof record);
    return record.kind == StableRecordKind::kSkip ? skip(left, at_tail) : copy(from, left);
  }

  StableRecord record;
  std::string command;

 private:
  bool skip(std::size_t left, bool at_tail) {
    if (record.bytes != left || at_tail || record.checksum != stable_checksum(record, {}, position_)) return false;
    position_ += left;
    return true;
  }

  bool copy(const std::byte* from, std::size_t left) {
    if (record.bytes > kBatchBytesMax || stable_record_bytes(record.bytes) > left) return false;
    const std::string_view there = view_of_shared(from + sizeof record, record.bytes, scratch_);
    if (Slot(record.slot) >= from_) command.assign(there);
    if (record.checksum != stable_checksum(record, Slot(record.slot) >= from_ ? command : there, position_))
      return false;
    position_ += stable_record_bytes(record.bytes);
    return true;
  }

  std::span<const std::byte> ring_;
  std::uint64_t position_;
  const std::uint64_t tail_;
  const Slot from_;
  std::string scratch_;
};

// The epoch of each vote in StableView::history. A cleaned ring has votes of several epochs in any order.
using VoteEpochs = absl::flat_hash_map<std::uint64_t, std::uint64_t>;

// Of several votes for a slot in earlier epochs the newest epoch's counts.
void add_history(const StableRecord& record, std::string& command, VoteEpochs& epochs, StableView& view) {
  std::uint64_t& epoch = epochs[record.slot];
  if (record.epoch < epoch) return;
  epoch = record.epoch;
  view.history[Slot(record.slot)] = std::make_shared<const std::string>(std::move(command));
}

// Adds one record to the view, if it still counts. False: its kind is unknown.
bool add(const StableRecord& record, const StableFixed& fixed, Slot from, std::string& command, VoteEpochs& epochs,
         StableView& view) {
  if (record.kind > StableRecordKind::kOutcome) return false;
  if (!stable_record_counts(record, fixed)) return true;
  const Slot slot(record.slot);
  const Ballot ballot(record.ballot);
  if (record.kind == StableRecordKind::kOutcome) {
    view.committed[slot] = record.ballot != 0;
    return true;
  }
  const bool accepted = record.kind == StableRecordKind::kAccepted;
  if (accepted && record.epoch == fixed.epoch) view.accepted_end = std::max(view.accepted_end, slot.next());
  if (!accepted && record.ballot == fixed.leader_ballot) view.proposed_end = std::max(view.proposed_end, slot.next());
  if (slot < from) return true;
  if (accepted && record.epoch < fixed.epoch) {
    add_history(record, command, epochs, view);
    return true;
  }
  auto shared = std::make_shared<const std::string>(std::move(command));
  if (accepted) {
    view.accepted[slot] = {ballot, std::move(shared)};
  } else {
    view.proposed[ballot][slot] = std::move(shared);
  }
  return true;
}

// The configuration in force. False: not the bytes of a writer.
bool read_configuration(const StableHeader& header, std::span<const std::byte> segment, std::string& content) {
  const std::uint64_t flip = header.configuration_flips.load(std::memory_order_acquire);  // pairs with configure
  if (flip == 0) return true;
  const std::size_t cell_bytes = stable_configuration_cell_bytes(segment.size());
  if (cell_bytes == 0) return false;
  const auto from = segment.subspan(segment.size() - (2 - flip % 2) * cell_bytes, cell_bytes);
  StableConfigurationCell cell;
  copy_from_shared(&cell, from.data(), sizeof cell);
  if (cell.bytes > cell_bytes - sizeof cell) return false;
  std::string scratch;
  content.assign(view_of_shared(from.data() + sizeof cell, cell.bytes, scratch));
  return cell.checksum == hash_bytes(content, flip);
}

const StableHeader& header_of(std::span<const std::byte> segment) {
  return *reinterpret_cast<const StableHeader*>(segment.data());
}

absl::Status check_header(std::span<const std::byte> segment) {
  if (segment.size() < kStableRingOffset) return corrupt("too few bytes");
  const StableHeader& header = header_of(segment);
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);  // pairs with StableSegment::open
  if (magic == 0) return absl::NotFoundError("no writer has opened the stable segment: nothing was stored");
  if (magic != kStableMagic) return corrupt("wrong magic number");
  const auto read = [](const auto& cell) { return cell.load(std::memory_order_relaxed); };
  if (read(header.layout_version) != kStableLayoutVersion) return corrupt("another layout version");
  if (read(header.replica) >= kReplicasMax || read(header.incarnation) == 0) return corrupt("its owner cannot be");
  if (segment.size() % kStableRecordAlignment != 0) return corrupt("another size");
  const std::size_t ring_bytes = stable_ring_bytes(segment.size());
  if (read(header.ring_bytes) != ring_bytes || ring_bytes % kStableRecordAlignment != 0) return corrupt("another size");
  return absl::OkStatus();
}

StableView view_of(const StableHeader& header, const StableFixed& fixed) {
  StableView view;
  view.replica = EndpointId(header.replica.load(std::memory_order_relaxed));
  view.incarnation = Incarnation(header.incarnation.load(std::memory_order_relaxed));
  view.epoch = Epoch(fixed.epoch);
  view.promised = Ballot(fixed.promised);
  view.trimmed = Slot(fixed.trimmed);
  view.leader_epoch = Epoch(fixed.leader_epoch);
  view.leader_ballot = Ballot(fixed.leader_ballot);
  view.leader_trimmed = Slot(fixed.leader_trimmed);
  return view;
}

// Reads all but the records.
absl::StatusOr<StableView> read_cells(std::span<const std::byte> segment, StableFixed& fixed) {
  if (auto status = check_header(segment); !status.ok()) return status;
  const StableHeader& header = header_of(segment);
  const std::optional<StableFixed> in_force = read_fixed(header);
  if (!in_force) return corrupt("the fixed state's checksum does not fit");
  fixed = *in_force;
  StableView view = view_of(header, fixed);
  if (!read_configuration(header, segment, view.configuration)) {
    return corrupt("the configuration's checksum does not fit");
  }
  return view;
}

}  // namespace

absl::StatusOr<StableView> StableView::read_without_records(std::span<const std::byte> segment) {
  StableFixed fixed;
  return read_cells(segment, fixed);
}

absl::StatusOr<StableView> StableView::read(std::span<const std::byte> segment, Slot from) {
  StableFixed fixed;
  auto view = read_cells(segment, fixed);
  if (!view.ok()) return view;
  const StableHeader& header = header_of(segment);
  const std::span<const std::byte> ring = segment.subspan(kStableRingOffset, stable_ring_bytes(segment.size()));
  const std::uint64_t head = header.head.load(std::memory_order_acquire);  // pairs with free_records
  const std::uint64_t tail = header.tail.load(std::memory_order_acquire);  // pairs with append
  if (head > tail || tail - head > ring.size() || head % kStableRecordAlignment != 0 ||
      tail % kStableRecordAlignment != 0) {
    return corrupt("the bounds of its records cannot be");
  }
  RecordReader reader(ring, head, tail, from);
  VoteEpochs epochs;
  while (!reader.done()) {
    if (!reader.next() || !add(reader.record, fixed, from, reader.command, epochs, *view))
      return corrupt("a record is damaged");
  }
  return view;
}

std::optional<Incarnation> StableView::incarnation_in(std::span<const std::byte> segment) {
  if (!check_header(segment).ok()) return std::nullopt;
  return Incarnation(header_of(segment).incarnation.load(std::memory_order_relaxed));
}

bool StableView::ended_before_inheriting(std::span<const std::byte> segment) {
  const absl::Status header = check_header(segment);
  if (!header.ok()) return absl::IsNotFound(header);
  std::string configuration;
  return read_configuration(header_of(segment), segment, configuration) && configuration.empty();
}

std::optional<StableExtent> StableView::extent_in(std::span<const std::byte> segment) {
  if (const absl::Status status = check_header(segment); !status.ok()) {
    if (absl::IsNotFound(status)) return StableExtent{};
    return std::nullopt;
  }
  const StableHeader& header = header_of(segment);
  const std::optional<StableFixed> fixed = read_fixed(header);
  if (!fixed) return std::nullopt;
  return StableExtent{.accepted_end = Slot(header.accepted_end.load(std::memory_order_relaxed)),
                      .leader_ballot = Ballot(fixed->leader_ballot)};
}

StableView StableView::released(EndpointId replica, Incarnation incarnation, Slot below) {
  StableView view;
  view.replica = replica;
  view.incarnation = incarnation;
  view.released_below = below;
  return view;
}

WriterState StableView::writer_state(std::span<const std::byte> segment) {
  if (segment.size() < sizeof(StableHeader)) return WriterState::kNone;
  return header_of(segment).lock.state();
}

const std::uint32_t* StableView::writer_word(std::span<const std::byte> segment) {
  return segment.size() < sizeof(StableHeader) ? nullptr : header_of(segment).lock.word();
}

}  // namespace ingot::replication_stable
