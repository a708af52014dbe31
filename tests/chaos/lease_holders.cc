#include "tests/chaos/lease_holders.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "tests/chaos/lease_client.h"
#include "tests/chaos/store_client.h"

namespace ingot::chaos {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPrefix = "held/";
constexpr const char* kLastKey = "held/zz-last";
constexpr auto kLook = milliseconds(20);  // between two looks at a lock
constexpr int kKeepAlivesOfTtl = 4;       // of a holder in the time of its lease
constexpr std::uint64_t kHoldMsMax = 3000;
constexpr std::uint64_t kWritePauseMsMax = 20;

struct Run {
  const HolderOptions& options;
  const std::atomic<bool>& stop;

  bool over() const { return stop.load(std::memory_order_relaxed); }
};

// Holds one lease after another, each with a place in the queue for a lock, which it keeps for a while once it has it.
class Holder {
 public:
  Holder(const Run& run, int index)
      : run_(run), prng_(run.options.seed * 1000 + static_cast<std::uint64_t>(index)), client_(run.options.endpoint) {}

  void run() {
    while (!run_.over()) {
      if (!client_.connected()) continue;
      if (auto lease = client_.grant(run_.options.ttl_s)) {
        lock_ = static_cast<int>(prng_.below(static_cast<std::uint64_t>(run_.options.locks)));
        hold(*lease);
        leases.push_back(std::move(*lease));
      }
    }
  }

  std::vector<LeaseRecord> leases;
  std::vector<Tenure> tenures;
  std::uint64_t keep_alives = 0;

 private:
  void hold(LeaseRecord& lease) {
    const std::string queue = absl::StrCat(kPrefix, "lock", lock_, "/");
    lease.key = absl::StrCat(queue, absl::Hex(lease.id));
    const std::int64_t revision = client_.put(lease.key, lease.id);
    lease.attached = revision != 0;
    if (!lease.attached || !wait_for_turn(lease, queue)) return;
    Tenure tenure{lock_, lease.id, revision, {now_ns(), 0}};
    const std::uint64_t until_ns = tenure.span.from_ns + prng_.below(kHoldMsMax) * 1'000'000;
    while (!run_.over() && now_ns() < until_ns && still_sure(lease)) std::this_thread::sleep_for(kLook);
    tenure.span.to_ns = std::min(now_ns(), sure_until_ns_);
    if (tenure.span.to_ns > tenure.span.from_ns) tenures.push_back(tenure);
    leave(lease);
  }

  // True: its key is the oldest, and the lease has not ended since.
  bool wait_for_turn(LeaseRecord& lease, const std::string& queue) {
    sure_until_ns_ = lease.asked_ns + lease.ttl_ns;
    next_ns_ = now_ns();
    while (!run_.over() && still_sure(lease)) {
      const auto oldest = client_.oldest(queue);
      if (oldest && *oldest == lease.key) return now_ns() < sure_until_ns_;
      std::this_thread::sleep_for(kLook);
    }
    return false;
  }

  // Keeps the lease alive when that is due. False: it may have ended, by this client's clock.
  bool still_sure(LeaseRecord& lease) {
    if (now_ns() >= next_ns_) {
      const bool alive = client_.keep_alive(lease);
      if (now_ns() >= sure_until_ns_ || lease.refused_ns != 0) return false;  // the answer came too late to rely on
      if (alive) {
        ++keep_alives;
        sure_until_ns_ = lease.asked_ns + lease.ttl_ns;
        next_ns_ = now_ns() + lease.ttl_ns / kKeepAlivesOfTtl;
      }
    }
    return now_ns() < sure_until_ns_;
  }

  // By a revocation, by a delete before it, or not at all: then the lease ends by itself.
  void leave(LeaseRecord& lease) {
    const std::uint64_t dice = prng_.below(4);
    if (dice == 0) client_.remove(lease);
    if (dice <= 1) client_.revoke(lease);
  }

  const Run& run_;
  Prng prng_;
  LeaseClient client_;
  int lock_ = 0;
  std::uint64_t sure_until_ns_ = 0;  // the lease cannot have ended before
  std::uint64_t next_ns_ = 0;        // the next keep-alive
};

// Puts keys without leases, of which watchers must see each.
struct Write {
  std::string key;
  std::int64_t revision = 0;
};

std::vector<Write> write_until_stopped(const Run& run) {
  LeaseClient client(run.options.endpoint);
  Prng prng(run.options.seed * 1000 + 999);
  std::vector<Write> written;
  for (std::uint64_t number = 0; !run.over(); ++number) {
    std::this_thread::sleep_for(milliseconds(prng.below(kWritePauseMsMax)));
    if (!client.connected()) continue;
    const std::string key = absl::StrCat(kPrefix, "free/", number);
    if (const std::int64_t revision = client.put(key, 0)) written.push_back({key, revision});
  }
  return written;
}

// Tries until it succeeds or the time is over.
template <typename Try>
bool patiently(const HolderOptions& options, Try attempt) {
  const std::uint64_t deadline_ns = now_ns() + static_cast<std::uint64_t>(options.patience.count());
  while (!attempt()) {
    if (now_ns() > deadline_ns) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

class Watchers {
 public:
  Watchers(const HolderOptions& options, std::int64_t from, int count) : options_(options) {
    for (int i = 0; i < count; ++i) watchers_.emplace_back(options.endpoint, kPrefix, from);
    for (Watcher& watcher : watchers_) {
      std::string& trouble = troubles_.emplace_back();
      threads_.emplace_back([this, &watcher, &trouble] {
        trouble = watcher.run(kLastKey);
        ended_.fetch_add(1);
      });
    }
  }
  ~Watchers() { stop(); }

  // Waits until all have seen the last key; one that never does is stopped, and lacks it.
  void finish() {
    patiently(options_, [this] { return ended_.load() == watchers_.size(); });
    stop();
  }
  void stop() {
    for (Watcher& watcher : watchers_) watcher.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // What each saw, once they are stopped.
  std::vector<SeenEvents> events() {
    std::vector<SeenEvents> all;
    for (Watcher& watcher : watchers_) all.push_back(std::move(watcher.events));
    return all;
  }
  // A sentence of one that the server ended; empty: it ended none.
  std::string trouble() const {
    const auto found = std::find_if(troubles_.begin(), troubles_.end(), [](const auto& text) { return !text.empty(); });
    return found == troubles_.end() ? "" : *found;
  }

 private:
  const HolderOptions& options_;
  std::deque<Watcher> watchers_;
  std::deque<std::string> troubles_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> ended_{0};
};

std::string find_lost_write(const std::vector<Write>& written, const SeenEvents& reference) {
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const SeenEvent& event : reference) seen.emplace(event.revision, event.key);
  for (const Write& write : written) {
    if (!seen.contains({write.revision, write.key})) {
      return absl::StrCat("the acknowledged put of ", write.key, " at revision ", write.revision, " is no event");
    }
  }
  return "";
}

void hold_until_stopped(const Run& run, Held& held, std::vector<Write>& written) {
  std::deque<Holder> holders;
  std::vector<std::thread> threads;
  for (int i = 0; i < run.options.holders; ++i) holders.emplace_back(run, i);
  for (Holder& holder : holders) threads.emplace_back([&holder] { holder.run(); });
  threads.emplace_back([&] { written = write_until_stopped(run); });
  for (std::thread& thread : threads) thread.join();
  for (Holder& holder : holders) {
    std::move(holder.leases.begin(), holder.leases.end(), std::back_inserter(held.leases));
    held.tenures.insert(held.tenures.end(), holder.tenures.begin(), holder.tenures.end());
    held.keep_alives += holder.keep_alives;
  }
}

}  // namespace

absl::StatusOr<Held> hold(const HolderOptions& options, const std::atomic<bool>& stop,
                          const std::atomic<bool>& blocked) {
  LeaseClient client(options.endpoint);
  std::int64_t revision = 0;
  if (!patiently(options, [&] { return client.connected() && (revision = client.revision()) != 0; })) {
    return absl::UnavailableError("the daemon's revision could not be read");
  }
  Held held;
  Watchers watchers(options, revision + 1, options.watchers);
  std::vector<Write> written;
  hold_until_stopped({options, stop}, held, written);
  held.writes = written.size();
  if (blocked.load()) {
    watchers.stop();
    held.watchers = watchers.events();
    held.ended_watch = watchers.trouble();
    return held;
  }
  const std::string locks = absl::StrCat(kPrefix, "lock");
  patiently(options, [&] { return client.connected() && client.oldest(locks) == std::string(); });
  if (!patiently(options, [&] { return client.connected() && client.put(kLastKey, 0) != 0; })) {
    return absl::UnavailableError("the last key could not be put");
  }
  watchers.finish();
  held.watchers = watchers.events();
  Watchers again(options, revision + 1, 1);
  again.finish();
  held.ended_watch = watchers.trouble() + again.trouble();
  held.reference = std::move(again.events().front());
  held.lost_write = find_lost_write(written, held.reference);
  return held;
}

}  // namespace ingot::chaos
