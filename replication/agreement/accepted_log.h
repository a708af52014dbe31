// The entries that an acceptor or voter has stored and not trimmed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "core/types.h"

namespace ingot::inline replication_agreement {

// Entries of the slots [trimmed, end), with holes. The caller bounds how far above `trimmed` a slot may lie. Shares its
// commands with other holders. Not thread-safe.
class AcceptedLog {
 public:
  struct Entry {
    Ballot ballot;
    std::shared_ptr<const std::string> command;
  };

  // The entry of a slot; null if there is none.
  const Entry* find(Slot slot) const {
    if (slot < trimmed_ || slot >= end()) return nullptr;
    const Entry& entry = entries_[slot.value() - trimmed_.value()];
    return entry.command ? &entry : nullptr;
  }

  // Replaces what the slot held. REQUIRES: slot >= trimmed().
  void store(Slot slot, Ballot ballot, std::shared_ptr<const std::string> command) {
    if (slot >= end()) entries_.resize(slot.value() - trimmed_.value() + 1);
    entries_[slot.value() - trimmed_.value()] = {ballot, std::move(command)};
  }

  // Forgets the slots below `keep_from`. False: nothing changed.
  bool trim(Slot keep_from) {
    if (keep_from <= trimmed_) return false;
    while (!entries_.empty() && trimmed_ < keep_from) {
      entries_.pop_front();
      trimmed_ = trimmed_.next();
    }
    trimmed_ = keep_from;
    return true;
  }

  // Forgets everything; slots below `first` count as trimmed.
  void restart(Slot first) {
    entries_.clear();
    trimmed_ = first;
  }

  Slot trimmed() const { return trimmed_; }
  Slot end() const { return trimmed_.plus(entries_.size()); }

 private:
  Slot trimmed_;
  std::deque<Entry> entries_;
};

}  // namespace ingot::replication_agreement
