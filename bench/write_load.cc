#include "bench/write_load.h"

#include <chrono>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "bench/kv_client.h"
#include "services/ingot_load/run_state.h"

namespace ingot::bench {
namespace {

constexpr std::size_t kTimesMax = 4096;
constexpr std::uint64_t kCompactEveryNs = 1'000'000'000;

}  // namespace

WriteLoad::WriteLoad(const std::string& endpoint, int clients) {
  for (int i = 0; i < clients; ++i) threads_.emplace_back([this, endpoint, i] { run(endpoint, i); });
  threads_.emplace_back([this, endpoint] { compact(endpoint); });
}

WriteLoad::~WriteLoad() {
  stop_.store(true);
  for (std::thread& thread : threads_) thread.join();
}

void WriteLoad::run(const std::string& endpoint, int client) {
  KvClient kv(endpoint);
  const std::string key = absl::StrCat("failover/", client);
  for (std::uint64_t i = 0; !stop_.load(std::memory_order_relaxed); ++i) {
    if (const auto revision = kv.put(key, absl::StrCat(i)); revision.ok()) {
      note(*revision, load::now_ns());
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

void WriteLoad::note(std::int64_t revision, std::uint64_t now_ns) {
  acknowledged_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  times_ns_.emplace(revision, now_ns);
  if (times_ns_.size() > kTimesMax) times_ns_.erase(times_ns_.begin());
}

// A failure needs no retry: the next call compacts more.
void WriteLoad::compact(const std::string& endpoint) {
  KvClient kv(endpoint);
  for (std::uint64_t next_ns = load::now_ns(); !stop_.load(std::memory_order_relaxed);) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::int64_t revision = newest_revision();
    if (revision == 0 || load::now_ns() < next_ns) continue;
    (void)kv.compact(revision);
    next_ns = load::now_ns() + kCompactEveryNs;
  }
}

std::int64_t WriteLoad::newest_revision() const {
  const std::lock_guard lock(mutex_);
  return times_ns_.empty() ? 0 : times_ns_.rbegin()->first;
}

std::uint64_t WriteLoad::acknowledged_ns_above(std::int64_t revision) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t first_ns = 0;
  for (auto at = times_ns_.upper_bound(revision); at != times_ns_.end(); ++at) {
    if (first_ns == 0 || at->second < first_ns) first_ns = at->second;
  }
  return first_ns;
}

}  // namespace ingot::bench
