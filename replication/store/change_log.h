// All changes that a store has made and not compacted, by revision: which key changed, in which order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/check.h"
#include "replication/store/api.h"

namespace ingot::kv {

class KeyRecord;

// A queue of the changes in their order, which an entry's revision and place give. An entry leads to its key's record,
// which still has the version unless a compaction at the entry's own revision has freed it.
//
// The log follows from the versions that a store holds, and nothing that replicas agree on follows from it: entries
// below the compacted revision may wait to be dropped, and nobody looks at them. Not thread-safe.
class ChangeLog {
 public:
  struct Entry {
    Revision revision = 0;
    KeyRecord* record = nullptr;
    std::uint32_t place = 0;  // of the change in its transaction: Version::sub

    EventPosition position() const { return {revision, place}; }
  };

  // REQUIRES: the position is above all others.
  void append(EventPosition position, KeyRecord* record) {
    INGOT_CHECK(entries_.empty() || entries_.back().position() < position, "changes ascend");
    entries_.push_back({position.revision, record, position.place});
  }
  void undo() { entries_.pop_back(); }

  // Drops at most `limit` entries below the revision.
  void drop_some(Revision below, std::size_t limit) {
    for (; limit > 0 && !entries_.empty() && entries_.front().revision < below; --limit) entries_.pop_front();
  }

  // The number of the first entry at or behind a position.
  std::size_t find(EventPosition position) const {
    const auto before = [](const Entry& entry, EventPosition at) { return entry.position() < at; };
    return static_cast<std::size_t>(std::lower_bound(entries_.begin(), entries_.end(), position, before) -
                                    entries_.begin());
  }

  const Entry& operator[](std::size_t number) const { return entries_[number]; }
  std::size_t size() const { return entries_.size(); }

 private:
  std::deque<Entry> entries_;
};

}  // namespace ingot::kv
