// Local queries that wait until this replica's state has come as far as their clients have seen another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/types.h"
#include "replication/replica/limits.h"
#include "replication/replica/read_queue.h"

namespace ingot::inline replication_replica {

// A replica lags by little, or for long: then the client asks another one, and what waits here is dropped when room is
// needed, or answered in vain. Nanoseconds are those of one steady clock. Not thread-safe.
class FloorReads {
 public:
  // Takes a query that is to be answered once slots below `floor` are applied. False: there is no room.
  bool add(Slot floor, PendingRead read, std::uint64_t now_ns) {
    if (!has_room(read)) drop_old(now_ns);
    if (!has_room(read)) return false;
    bytes_ += read.query.size();
    waiting_.emplace(floor, Waiting{std::move(read), now_ns});
    return true;
  }

  // Removes and returns one that may be answered at `applied`; nothing: there is none.
  std::optional<PendingRead> take_answerable(Slot applied) {
    if (waiting_.empty() || waiting_.begin()->first > applied) return std::nullopt;
    PendingRead read = std::move(waiting_.begin()->second.read);
    waiting_.erase(waiting_.begin());
    bytes_ -= read.query.size();
    return read;
  }

  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    PendingRead read;
    std::uint64_t since_ns = 0;
  };

  bool has_room(const PendingRead& read) const {
    return waiting_.size() < kFloorReadsMax && bytes_ + read.query.size() <= kFloorReadsBytesMax;
  }
  void drop_old(std::uint64_t now_ns) {
    std::erase_if(waiting_, [&](const auto& each) {
      const bool old = now_ns - each.second.since_ns >= kFloorReadMs * 1'000'000;
      if (old) bytes_ -= each.second.read.query.size();
      return old;
    });
  }

  std::multimap<Slot, Waiting> waiting_;  // by the slot that they wait for
  std::size_t bytes_ = 0;                 // of the queries
};

}  // namespace ingot::replication_replica
