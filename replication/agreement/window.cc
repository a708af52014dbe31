#include "replication/agreement/window.h"

#include <bit>
#include <utility>

#include "core/check.h"

namespace ingot::inline replication_agreement {

ProposalWindow::ProposalWindow(int window_slots, std::size_t window_bytes)
    : slots_max_(static_cast<std::uint64_t>(window_slots)),
      bytes_max_(window_bytes),
      ring_(std::bit_ceil(slots_max_)) {
  INGOT_CHECK(window_slots >= 1);
}

Slot ProposalWindow::add(std::uint64_t id, std::shared_ptr<const std::string> command) {
  INGOT_CHECK(has_room());
  INGOT_CHECK(command && !command->empty() && command->size() <= kBatchBytesMax);
  return put(id, std::move(command));
}

bool ProposalWindow::add_recovered(std::uint64_t id, std::shared_ptr<const std::string> command) {
  if (!has_slot()) return false;
  put(id, std::move(command));
  return true;
}

Slot ProposalWindow::put(std::uint64_t id, std::shared_ptr<const std::string> command) {
  const Slot slot = next_;
  next_ = next_.next();
  bytes_ += command->size();
  Proposal& place = ring_[slot.value() & (ring_.size() - 1)];
  place = {.command = std::move(command), .id = id};
  place.bytes = place.command->size();
  ++open_;
  return slot;
}

void ProposalWindow::restart(Slot base) {
  for (Proposal& proposal : ring_) proposal = {};
  base_ = next_ = base;
  open_ = 0;
  bytes_ = 0;
}

Proposal* ProposalWindow::find(Slot slot) {
  if (slot < base_ || slot >= next_) return nullptr;
  Proposal& proposal = ring_[slot.value() & (ring_.size() - 1)];
  return proposal.command ? &proposal : nullptr;
}

void ProposalWindow::close(Slot slot) {
  find(slot)->command = nullptr;
  --open_;
}

void ProposalWindow::advance(Slot decided) {
  for (; base_ < std::min(decided, next_); base_ = base_.next()) {
    if (find(base_)) close(base_);
    bytes_ -= std::exchange(ring_[base_.value() & (ring_.size() - 1)].bytes, 0);
  }
  base_ = std::max(base_, decided);
  next_ = std::max(next_, base_);
}

void ProposalWindow::for_each_open(absl::FunctionRef<void(Slot, const Proposal&)> visit) const {
  if (open_ == 0) return;
  for (Slot slot = base_; slot < next_; slot = slot.next()) {
    if (const Proposal* proposal = find(slot)) visit(slot, *proposal);
  }
}

}  // namespace ingot::replication_agreement
