// Where a replica keeps its promises, votes and proposals: the seam below agreement's stable writes.
//
// Implementations: a shared-memory segment (replication/stable/segment.h) and the simulator's. A file on disk would be a
// third: what store() returned true for must then outlive the machine.
#pragma once

#include <cstddef>

#include "replication/stable/write.h"

namespace ingot {

// One writer. Not thread-safe.
class StableStore {
 public:
  virtual ~StableStore() = default;

  // Executes one write, all of it or nothing. Returns false, with nothing stored, if there is no room until a kTrimmed
  // frees some. What it stored is in place when it returns: a message that relies on it may leave.
  [[nodiscard]] virtual bool store(const StableWrite& write) = 0;

  // Room for records, in bytes, and how much of it is in use. A record takes stable_record_bytes() of it
  // (replication/stable/layout.h), and at most as much again where records do not wrap.
  virtual std::size_t capacity_bytes() const = 0;
  virtual std::size_t used_bytes() const = 0;

  // Frees at once what is in use by records of no account, which each store() frees some of. Readers see no difference.
  virtual void make_room() = 0;
};

}  // namespace ingot
