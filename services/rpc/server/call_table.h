// The open calls of a loop, by slot and generation, so that a Call that outlives its stream finds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/rpc/server/call.h"

namespace ingot::rpc {

struct Stream;

// Not thread-safe.
class CallTable {
 public:
  Call open(Stream& stream) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    entries_[slot].stream = &stream;
    ++open_;
    return Call(*this, slot, entries_[slot].generation);
  }

  // The call is open.
  void close(const Call& call) {
    entries_[call.slot_] = {nullptr, call.generation_ + 1};
    free_.push_back(call.slot_);
    --open_;
  }

  // Null: the call is over.
  Stream* find(const Call& call) const {
    const Entry& entry = entries_[call.slot_];
    return entry.generation == call.generation_ ? entry.stream : nullptr;
  }

  std::size_t open_calls() const { return open_; }

 private:
  struct Entry {
    Stream* stream = nullptr;
    std::uint32_t generation = 0;
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t open_ = 0;
};

}  // namespace ingot::rpc
