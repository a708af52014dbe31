// Events of an answer, each encoded once for all watches that get it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "replication/store/api.h"
#include "services/watch/watch.h"

namespace ingot::watch {

class EventBatch {
 public:
  struct Entry {
    std::string key;
    Revision revision;
    bool deleted;
    std::size_t begin;             // of its bytes
    std::uint32_t bytes;           // without the previous value
    std::uint32_t previous_bytes;  // behind these
  };

  EventBatch() = default;
  explicit EventBatch(std::vector<kv::Event>&& events);

  const std::vector<Entry>& entries() const { return entries_; }
  // Of all encoded events.
  std::size_t size_bytes() const { return bytes_.size(); }

  // What an event takes in a response of this watch.
  std::size_t size_in(const Entry& entry, const Watch& watch) const;
  // Appends it, as a field of a WatchResponse.
  void append(const Entry& entry, const Watch& watch, std::string& to) const;

 private:
  std::vector<Entry> entries_;
  std::string bytes_;
};

}  // namespace ingot::watch
