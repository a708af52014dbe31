#include "services/view/tickets/wait_list.h"

#include <algorithm>
#include <utility>

namespace ingot::inline services_view_tickets {

bool WaitList::wait(Id id, std::string_view prefix, std::int64_t revision) {
  Wait wait{std::string(prefix), revision, first_, revision < floor_};
  waits_.erase(id);
  if (has_ended(wait)) return true;
  waits_.emplace(id, std::move(wait));
  return false;
}

bool WaitList::has_ended(Wait& wait) const {
  if (wait.unsure || wait.next < first_) return published_ > wait.revision;
  for (; wait.next < first_ + changes_.size(); ++wait.next) {
    const Change& change = changes_[static_cast<std::size_t>(wait.next - first_)];
    if (change.revision > published_) return false;
    if (change.revision > wait.revision && change.key.starts_with(wait.prefix)) return true;
  }
  return false;
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
    if (!has_ended(at->second)) continue;
    ended.push_back(at->first);
    waits_.erase(at);
  }
}

}  // namespace ingot::services_view_tickets
