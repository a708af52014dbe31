// The interface of a replica's stable storage for promises, votes and proposals.
//
// Implementations: a shared-memory segment (replication/stable/segment.h) and the simulator's. A file on disk would be
// a third; a write must then survive the machine once store() has returned true.
#pragma once

#include <cstddef>

#include "replication/stable/write.h"

namespace ingot::inline replication_stable {

// One writer. Not thread-safe.
class StableStore {
 public:
  virtual ~StableStore() = default;

  // Executes one write, all of it or nothing. Returns false, with nothing stored, if there is no room until a kTrimmed
  // frees some. The write is in place on return: a message that relies on it may leave.
  [[nodiscard]] virtual bool store(const StableWrite& write) = 0;

  // Room for records, in bytes, and how much of it is in use. A record takes stable_record_bytes()
  // (replication/stable/layout.h), and up to as much again since records do not wrap.
  virtual std::size_t capacity_bytes() const = 0;
  virtual std::size_t used_bytes() const = 0;

  // Frees all obsolete records up to the oldest one that counts, of which each store() frees a few. Readers see no
  // difference.
  virtual void make_room() = 0;

  // Also frees the obsolete records behind the oldest one that counts, if they are worth it: it copies what counts, at
  // most capacity_bytes(). For callers that find the store too full although make_room() was called.
  virtual void clean() = 0;
};

}  // namespace ingot::replication_stable
