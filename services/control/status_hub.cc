#include "services/control/status_hub.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
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
  INGOT_CHECK(places_.empty());
}

std::optional<std::string> StatusHub::add(std::shared_ptr<Watcher> watcher, const std::string& caller) {
  {
    const std::lock_guard lock(mutex_);
    if (auto why = refusal(caller)) return why;
    places_.push_back({watcher, caller});
  }
  changed_.notify_one();
  watcher->offer(sample());
  return std::nullopt;
}

std::optional<std::string> StatusHub::refusal(const std::string& caller) const {
  if (ended_) return "the daemon is leaving";
  std::map<std::string, std::size_t> held;
  for (const Place& place : places_) ++held[place.caller];
  const std::size_t free = kStatusWatchersMax - std::min<std::size_t>(kStatusWatchersMax, places_.size());
  const std::size_t share = std::max<std::size_t>(kStatusWatchersOwn, free);
  if (held[caller] + 1 <= share) return std::nullopt;
  const auto most = std::max_element(held.begin(), held.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  return absl::StrCat("too many WatchStatus streams: ", places_.size(), " of ", kStatusWatchersMax,
                      " are taken, the most (", most->second, ") by ",
                      most->first == caller ? "this connection" : most->first, "; this connection has ", held[caller],
                      " and may have ", share, "; close one or try later");
}

void StatusHub::remove(const Watcher* watcher) {
  const std::lock_guard lock(mutex_);
  std::erase_if(places_, [watcher](const Place& place) { return place.watcher.get() == watcher; });
}

std::vector<std::shared_ptr<StatusHub::Watcher>> StatusHub::watchers() const {
  std::vector<std::shared_ptr<Watcher>> all;
  for (const Place& place : places_) all.push_back(place.watcher);
  return all;
}

void StatusHub::end() {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    watchers = this->watchers();
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
    changed_.wait(lock, [this] { return ended_ || !places_.empty(); });
    if (ended_) return;
    const std::vector<std::shared_ptr<Watcher>> watchers = this->watchers();
    lock.unlock();
    const StatusSample now = sample();
    for (const auto& watcher : watchers) watcher->offer(now);
    lock.lock();
    changed_.wait_for(lock, std::chrono::milliseconds(kStatusPollMs), [this] { return ended_; });
  }
}

}  // namespace ingot::services_control
