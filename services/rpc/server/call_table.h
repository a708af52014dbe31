// The open calls of a loop, by slot and generation, so that a Call that outlives its stream finds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "services/rpc/server/call.h"
#include "services/rpc/server/place.h"

namespace ingot::rpc::inline server {

struct Stream;

// Also keeps the call slots of calls that are over and whose handlers still work for them. Not thread-safe.
class CallTable {
 public:
  // `leave` gives a call slot back.
  explicit CallTable(std::function<void(Place&)> leave) : leave_(std::move(leave)) {}

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

  // The call is open. With a call slot (`place`) its entry is used again only after work_ended().
  void close(const Call& call, Place place = {}) {
    Entry& entry = entries_[call.slot_];
    entry.stream = nullptr;
    --open_;
    if (place.works == nullptr) return release(call.slot_);
    entry.place = std::move(place);
  }

  // REQUIRES: the call is over. Gives back the call slot that close() was given, unless that was done before.
  void work_ended(const Call& call) {
    Entry& entry = entries_[call.slot_];
    if (entry.generation != call.generation_ || entry.place.works == nullptr) return;
    leave_(entry.place);
    release(call.slot_);
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
    Place place;  // once the call is over
  };

  void release(std::uint32_t slot) {
    ++entries_[slot].generation;
    free_.push_back(slot);
  }

  const std::function<void(Place&)> leave_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t open_ = 0;
};

}  // namespace ingot::rpc::server
