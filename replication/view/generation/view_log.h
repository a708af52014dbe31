// The writer's side of the log of changes: a ring of revisions and hashes of keys, the oldest overwritten first.
//
// An entry does not lead to a node: a reader looks up, by the hash, the version that has the entry's revision. So later
// changes of the key do not change the entry, and each changed key is found only at its newest change.
#pragma once

#include <cstdint>

#include "core/rule.h"
#include "replication/view/generation/nodes.h"

namespace ingot::inline replication_view_generation {

// Not thread-safe. One writer.
class ViewLog {
 public:
  ViewLog(Nodes& nodes, std::uint64_t entries) : nodes_(nodes), entries_(entries) {}

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  // All changes after this revision are in the log.
  ViewRevision floor() const { return floor_; }

  // The log begins with the changes after this revision.
  void start(ViewRevision floor) { floor_ = floor; }

  // Returns the change's position. REQUIRES: revisions do not fall.
  std::uint64_t append(ViewRevision revision, std::uint64_t hash);

  // The log begins at this position. REQUIRES: begin() <= position <= end().
  void forget(std::uint64_t position) {
    if (position == begin_) return;
    floor_ = static_cast<ViewRevision>(*nodes_.own(entry_word(position - 1)));
    begin_ = position;
  }

 private:
  std::uint64_t entry_word(std::uint64_t position) const {
    return kHeaderWords + position % entries_ * kLogEntryWords;
  }

  Nodes& nodes_;
  const std::uint64_t entries_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  ViewRevision floor_ = 0;
};

inline std::uint64_t ViewLog::append(ViewRevision revision, std::uint64_t hash) {
  if (end_ - begin_ == entries_) forget(begin_ + 1);
  const std::uint64_t word = entry_word(end_);
  // The revision first: a reader that takes the hash sees that its entry was overwritten (ViewReader::changes).
  if (INGOT_RULE("revision-first")) nodes_.store(word, static_cast<std::uint64_t>(revision));
  if (INGOT_RULE("revision-fence")) store_store_fence();
  nodes_.store(word + 1, hash);
  if (!INGOT_RULE("revision-first")) nodes_.store(word, static_cast<std::uint64_t>(revision));
  return end_++;
}

}  // namespace ingot::replication_view_generation
