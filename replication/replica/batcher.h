// Commands that wait at the leader for a slot: commands that arrive together share a slot.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "replication/requests/limits.h"
#include "replication/requests/request.h"

namespace ingot::inline replication_replica {

// Collects commands into batches of at most kBatchCommandsMax commands and `batch_bytes` bytes; a larger command is a
// batch of its own. Holds at most kLeaderQueueCommandsMax commands and kLeaderQueueBytesMax bytes, including those that
// were taken and are not yet decided: a command that a client repeats meanwhile is not proposed again. Not thread-safe.
class Batcher {
 public:
  enum class Added { kYes, kRepeated, kFull };

  // REQUIRES: batch_bytes is at most kBatchBytesMax.
  explicit Batcher(std::size_t batch_bytes = kBatchBytesMax) : batch_bytes_(batch_bytes) {}

  // Appends a command to the newest batch, or opens another, unless the same command waits or is proposed already
  // (kRepeated).
  Added add(const Request& command);

  // The command was applied; any replica may have proposed it.
  void decided(const Request& command);

  // It is unknown whether commands that were taken get decided: from now on repeats of them are accepted (sessions make
  // sure that each takes effect once).
  void forget_proposals();

  bool empty() const { return batches_.empty(); }
  // The oldest batch is closed: it does not grow any more.
  bool full_batch() const { return batches_.size() > 1; }

  // The oldest batch. REQUIRES: !empty().
  std::shared_ptr<const std::string> take();

 private:
  struct Batch {
    std::string bytes;
    int commands = 0;
  };

  using CommandKey = std::pair<std::uint64_t, std::uint64_t>;  // client, sequence

  const std::size_t batch_bytes_;
  std::deque<Batch> batches_;
  std::string spare_;  // empty; its memory is used for the next batch
  struct Entry {
    std::size_t bytes;
    std::uint64_t batch;  // which it went into, counted from the first
  };

  absl::flat_hash_map<CommandKey, Entry> on_their_way_;
  std::uint64_t opened_ = 0;  // batches, ever
  std::uint64_t taken_ = 0;
  std::size_t bytes_ = 0;                                       // of those
};

}  // namespace ingot::replication_replica
