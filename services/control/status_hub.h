// Tells watchers when the status of an instance changes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot::inline services_control {

// One status for all watchers, with the fingerprint that they compare.
struct StatusSample {
  ::ingot::control::v1::GetStatusResponse status;
  std::string fingerprint;  // changes with anything but progress
  std::chrono::steady_clock::time_point at;
};

// Decides for one watcher which samples to send. Not thread-safe.
class ChangeFilter {
 public:
  explicit ChangeFilter(std::chrono::milliseconds interval) : interval_(interval) {}

  // True, and remembers the sample, if it must be sent: the first one, any change but progress, and any sample if the
  // interval has passed since the last one sent.
  bool admit(const StatusSample& sample);

 private:
  std::chrono::milliseconds interval_;
  bool first_ = true;
  std::string fingerprint_;
  std::chrono::steady_clock::time_point sent_at_;
};

// Reads the status every kStatusPollMs while there are watchers, and sleeps otherwise. A change that reverts between
// two readings is not seen. Thread-safe.
class StatusHub {
 public:
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void offer(const StatusSample& sample) = 0;  // never blocks; called from the hub's thread, or by add
    virtual void end() = 0;                              // the daemon shuts down
  };

  explicit StatusHub(std::function<::ingot::control::v1::GetStatusResponse()> read);
  ~StatusHub();  // REQUIRES: all watchers are removed

  // Offers the current status before it returns. A caller may have as many watchers as are still free of
  // kStatusWatchersMax, and kStatusWatchersOwn in any case. No value: it is added. Otherwise why not, also after end().
  [[nodiscard]] std::optional<std::string> add(std::shared_ptr<Watcher> watcher, const std::string& caller);
  void remove(const Watcher* watcher);

  // Ends all watchers and accepts no more.
  void end();

 private:
  struct Place {
    std::shared_ptr<Watcher> watcher;
    std::string caller;
  };

  std::optional<std::string> refusal(const std::string& caller) const;  // REQUIRES: mutex_
  std::vector<std::shared_ptr<Watcher>> watchers() const;               // likewise
  StatusSample sample() const;
  void run();

  const std::function<::ingot::control::v1::GetStatusResponse()> read_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;  // guarded by mutex_
  bool ended_ = false;         // guarded by mutex_
  std::thread thread_;
};

}  // namespace ingot::services_control
