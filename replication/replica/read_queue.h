// Linearizable reads in progress: agreement first confirms the read index, the slot from which on a read may be
// answered; then the local state has to reach it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/types.h"

namespace ingot::inline replication_replica {

struct PendingRead {
  EndpointId reply_to;
  std::uint64_t sequence = 0;  // of the client's request
  std::string query;
};

// Holds at most kPendingReadsMax reads. Not thread-safe.
class ReadQueue {
 public:
  // Takes a read and returns its id, or nothing if the queue is full.
  std::optional<std::uint64_t> add(PendingRead read);

  // Takes back a read that agreement rejected; nothing if the id is unknown.
  std::optional<PendingRead> remove(std::uint64_t read_id);

  // The read may be answered once slots below `applied_needed` are applied.
  void ready(std::uint64_t read_id, Slot applied_needed);

  // Removes and returns one read that may be answered at `applied`; nothing: there is none.
  std::optional<PendingRead> take_answerable(Slot applied);

 private:
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, PendingRead> reads_;
  std::multimap<Slot, std::uint64_t> waiting_;  // ready, by the slot they wait for
};

}  // namespace ingot::replication_replica
