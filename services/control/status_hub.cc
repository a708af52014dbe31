#include "services/control/status_hub.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "services/control/limits.h"
#include "services/status/status.h"

namespace ingot::inline services_control {

bool ChangeFilter::admit(const StatusSample& sample) {
  const bool changed = first_ || sample.fingerprint != fingerprint_;
  if (!changed && sample.at - sent_at_ < interval_) return false;
  first_ = false;
  fingerprint_ = sample.fingerprint;
  sent_at_ = sample.at;
  return true;
}

StatusHub::StatusHub(std::function<control_v1::GetStatusResponse()> read)
    : read_(std::move(read)), thread_([this] { run(); }) {}

StatusHub::~StatusHub() {
  end();
  thread_.join();
  INGOT_CHECK(watchers_.empty());
}

bool StatusHub::add(std::shared_ptr<Watcher> watcher) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || watchers_.size() >= kStatusWatchersMax) return false;
    watchers_.push_back(watcher);
  }
  changed_.notify_one();
  watcher->offer(sample());
  return true;
}

void StatusHub::remove(const Watcher* watcher) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [watcher](const auto& other) { return other.get() == watcher; });
}

void StatusHub::end() {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    watchers = watchers_;
  }
  changed_.notify_one();
  for (const auto& watcher : watchers) watcher->end();
}

StatusSample StatusHub::sample() const {
  StatusSample sample{read_(), {}, std::chrono::steady_clock::now()};
  sample.fingerprint = fingerprint(sample.status);
  return sample;
}

// Watchers are called without the mutex: gRPC may run their reactions, which call remove, within that call.
void StatusHub::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    changed_.wait(lock, [this] { return ended_ || !watchers_.empty(); });
    if (ended_) return;
    const std::vector<std::shared_ptr<Watcher>> watchers = watchers_;
    lock.unlock();
    const StatusSample now = sample();
    for (const auto& watcher : watchers) watcher->offer(now);
    lock.lock();
    changed_.wait_for(lock, std::chrono::milliseconds(kStatusPollMs), [this] { return ended_; });
  }
}

}  // namespace ingot::services_control
