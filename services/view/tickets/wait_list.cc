#include "services/view/tickets/wait_list.h"

#include <algorithm>
#include <utility>

namespace ingot::inline services_view_tickets {

// Revisions do not fall in the list, so the changes from before the wait are passed by.
void WaitList::wait(Id id, std::string_view prefix, std::int64_t revision) {
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), revision,
                                     [](std::int64_t at, const Change& change) { return at < change.revision; });
  const auto passed = static_cast<std::uint64_t>(next - changes_.begin());
  waits_.insert_or_assign(id, Wait{std::string(prefix), revision, first_ + passed, revision < floor_});
  unseen_ = waits_.size();
}

WaitList::Look WaitList::look_at(Wait& wait) const {
  if (wait.unsure || wait.next < first_) return published_ > wait.revision ? Look::kEnded : Look::kWaits;
  const std::uint64_t end = first_ + changes_.size();
  for (const std::uint64_t slice = std::min(end, wait.next + kWaitChangesPerLook); wait.next < slice; ++wait.next) {
    const Change& change = changes_[static_cast<std::size_t>(wait.next - first_)];
    if (change.revision > published_) return Look::kWaits;
    if (change.revision > wait.revision && change.key.starts_with(wait.prefix)) return Look::kEnded;
  }
  return wait.next < end ? Look::kUnfinished : Look::kWaits;
}

void WaitList::changed(std::string_view key, std::int64_t revision) {
  if (waits_.empty()) return missed(revision);
  bytes_ += key.size();
  changes_.push_back({revision, std::string(key)});
  while (changes_.size() > kWaitChangesMax || bytes_ > kWaitChangesBytesMax) drop_front();
}

// Waits that have not looked at the dropped change are unsure from then on.
void WaitList::drop_front() {
  floor_ = std::max(floor_, changes_.front().revision);
  bytes_ -= changes_.front().key.size();
  changes_.pop_front();
  ++first_;
}

void WaitList::missed(std::int64_t revision) {
  while (!changes_.empty()) drop_front();
  floor_ = std::max(floor_, revision);
  for (auto& [id, wait] : waits_) wait.unsure |= wait.revision < floor_;
}

void WaitList::published(std::int64_t revision) {
  published_ = std::max(published_, revision);
  unseen_ = waits_.size();
}

void WaitList::look(std::size_t most, std::vector<Id>& ended) {
  for (; most > 0 && unseen_ > 0 && !waits_.empty(); --most, --unseen_) {
    auto at = waits_.upper_bound(last_looked_);
    if (at == waits_.end()) at = waits_.begin();
    last_looked_ = at->first;
    const Look look = look_at(at->second);
    if (look == Look::kUnfinished) unseen_ = waits_.size() + 1;  // a whole turn more, after this one
    if (look != Look::kEnded) continue;
    ended.push_back(at->first);
    waits_.erase(at);
  }
}

}  // namespace ingot::services_view_tickets
