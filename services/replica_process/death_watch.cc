#include "services/replica_process/death_watch.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "replication/stable/view.h"

namespace ingot::inline services_replica_process {
namespace {

static_assert(kReplicasMax + 1 <= FUTEX_WAITV_MAX, "a place for every writer, and for changes");

futex_waitv place_of(const void* word, std::uint32_t value) {
  futex_waitv place{};
  place.val = value;
  place.uaddr = reinterpret_cast<std::uintptr_t>(word);
  place.flags = FUTEX_32;  // shared between processes
  return place;
}

void wake_all(const void* word) { ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace

DeathWatch::DeathWatch(std::function<void(EndpointId, Incarnation)> died) : died_(std::move(died)) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no thread can be started
  }
}

DeathWatch::~DeathWatch() {
  over_.store(true);
  call_off_sleep();
  if (thread_.joinable()) thread_.join();
}

void DeathWatch::watch(EndpointId replica, Incarnation incarnation, std::span<const std::byte> segment,
                       std::shared_ptr<const void> keep) {
  {
    std::lock_guard lock(mutex_);
    writers_.insert_or_assign(replica.value(), Writer{incarnation, segment, std::move(keep)});
  }
  call_off_sleep();
}

void DeathWatch::call_off_sleep() {
  changes_.fetch_add(1);
  wake_all(&changes_);
}

void DeathWatch::run() {
  while (!over_.load()) {
    poll();
    if (!sleep()) return;
  }
}

// Reports the writers that have died since the last poll.
void DeathWatch::poll() {
  std::vector<std::pair<EndpointId, Incarnation>> dead;
  {
    std::lock_guard lock(mutex_);
    for (auto& [replica, writer] : writers_) {
      if (writer.told || StableView::writer_state(writer.segment) != WriterState::kGone) continue;
      writer.told = true;
      wake_all(StableView::writer_word(writer.segment));  // the kernel woke only one of the sleepers
      dead.emplace_back(replica, writer.incarnation);
    }
  }
  for (const auto& [replica, incarnation] : dead) {
    deaths_.add_release(1);
    died_(replica, incarnation);
  }
}

// Sleeps until a word is woken or has changed. False: the kernel has no futex_waitv.
bool DeathWatch::sleep() {
  std::vector<futex_waitv> places{place_of(&changes_, changes_.load())};
  std::vector<std::shared_ptr<const void>> kept;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [replica, writer] : writers_) {
      if (writer.told) continue;
      const std::uint32_t* word = StableView::writer_word(writer.segment);
      if (word == nullptr) continue;
      const std::uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
      if (StableView::writer_state(writer.segment) == WriterState::kGone) return true;  // died after poll()
      places.push_back(place_of(word, value));
      kept.push_back(writer.keep);
    }
  }
  if (over_.load()) return true;
  const long woken = ::syscall(SYS_futex_waitv, places.data(), static_cast<unsigned>(places.size()), 0, nullptr, 0);
  return woken >= 0 || errno == EAGAIN || errno == EINTR;
}

}  // namespace ingot::services_replica_process
