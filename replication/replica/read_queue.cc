#include "replication/replica/read_queue.h"

#include "replication/replica/limits.h"

#include <utility>

#include "replication/agreement/limits.h"

namespace ingot::inline replication_replica {

std::optional<std::uint64_t> ReadQueue::add(PendingRead read) {
  if (reads_.size() >= kPendingReadsMax) return std::nullopt;
  reads_.emplace(next_id_, std::move(read));
  return next_id_++;
}

std::optional<PendingRead> ReadQueue::remove(std::uint64_t read_id) {
  auto node = reads_.extract(read_id);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

void ReadQueue::ready(std::uint64_t read_id, Slot applied_needed) {
  if (reads_.contains(read_id)) waiting_.emplace(applied_needed, read_id);
}

std::optional<PendingRead> ReadQueue::take_answerable(Slot applied) {
  while (!waiting_.empty() && waiting_.begin()->first <= applied) {
    auto read = remove(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    if (read) return read;
  }
  return std::nullopt;
}

}  // namespace ingot::replication_replica
