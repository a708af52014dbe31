#include "replication/replica/batcher.h"

#include <utility>

#include "core/check.h"
#include "replication/replica/limits.h"
#include "replication/requests/limits.h"

namespace ingot::inline replication_replica {

namespace {
// Room for a command's header beside its payload (replication/requests/request.h).
constexpr std::size_t kCommandHeaderBytesMax = 64;
static_assert(kRequestBytesMax + kCommandHeaderBytesMax <= kBatchBytesMax);
constexpr std::size_t kUnusedShare = 8;  // of a batch: no more than one such part of its size may be unused
constexpr std::size_t kSpareBytesMax = 64 * 1024;  // of memory that is kept for the next batch
}  // namespace

Batcher::Added Batcher::add(const Request& command) {
  const CommandKey key(command.client, command.sequence);
  if (on_their_way_.contains(key)) return Added::kRepeated;
  const std::size_t size = command.payload.size() + kCommandHeaderBytesMax;
  if (on_their_way_.size() >= kLeaderQueueCommandsMax || bytes_ + size > kLeaderQueueBytesMax) return Added::kFull;
  const bool fits = !batches_.empty() && batches_.back().commands < kBatchCommandsMax &&
                    batches_.back().bytes.size() + size <= batch_bytes_;
  if (!fits) {
    batches_.emplace_back().bytes = std::exchange(spare_, {});
    ++opened_;
  }
  append_command(batches_.back().bytes, command);
  ++batches_.back().commands;
  on_their_way_.emplace(key, Entry{size, opened_ - 1});
  bytes_ += size;
  return Added::kYes;
}

void Batcher::decided(const Request& command) {
  const auto found = on_their_way_.find(CommandKey(command.client, command.sequence));
  if (found == on_their_way_.end()) return;
  bytes_ -= found->second.bytes;
  on_their_way_.erase(found);
}

void Batcher::forget_proposals() {
  absl::erase_if(on_their_way_, [this](const auto& entry) {
    if (entry.second.batch >= taken_) return false;
    bytes_ -= entry.second.bytes;
    return true;
  });
}

// Logs keep a batch for long, so it gets no more memory than it fills: while it grew, it had up to twice as much.
std::shared_ptr<const std::string> Batcher::take() {
  INGOT_CHECK(!batches_.empty());
  std::string bytes = std::move(batches_.front().bytes);
  batches_.pop_front();
  ++taken_;
  const bool fits = bytes.capacity() - bytes.size() <= bytes.size() / kUnusedShare;
  if (fits) return std::make_shared<const std::string>(std::move(bytes));
  auto batch = std::make_shared<const std::string>(std::string_view(bytes));
  bytes.clear();
  if (bytes.capacity() <= kSpareBytesMax) spare_ = std::move(bytes);
  return batch;
}

}  // namespace ingot::replication_replica
