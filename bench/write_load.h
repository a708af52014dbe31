// Clients that write all the time, the times of their acknowledgements, and a thread that compacts the history.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ingot::bench {

// Each client is a thread with a connection and one request at a time; after a failed request it waits a little and
// goes on. Another thread compacts once a second, since the store keeps every version until then and a small state
// would not stay small. Thread-safe.
class WriteLoad {
 public:
  WriteLoad(const std::string& endpoint, int clients);
  ~WriteLoad();

  // The time, by the monotonic clock, at which the first write with a revision above this one was acknowledged, of the
  // latest few thousand writes; 0: none yet.
  std::uint64_t acknowledged_ns_above(std::int64_t revision) const;

  std::uint64_t acknowledged() const { return acknowledged_.load(std::memory_order_relaxed); }
 private:
  void run(const std::string& endpoint, int client);
  void compact(const std::string& endpoint);
  std::int64_t newest_revision() const;  // known to a client; 0: none
  void note(std::int64_t revision, std::uint64_t now_ns);

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> acknowledged_{0};
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::uint64_t> times_ns_;  // by revision
  std::vector<std::thread> threads_;
};

}  // namespace ingot::bench
