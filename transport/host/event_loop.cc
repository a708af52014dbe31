#include "transport/host/event_loop.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/check.h"
#include "transport/host/fence.h"
#include "transport/host/limits.h"

namespace ingot::inline transport_host {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

void count(Counter* counter) {
  if (counter != nullptr) counter->add(1);
}

}  // namespace

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
}

WaitOptions WaitOptions::own_core() { return {.spin_ns = kSpinNs, .yields = kYieldsOwnCore}; }
WaitOptions WaitOptions::shared_core() { return {.spin_ns = 0, .yields = kYieldsSharedCore}; }

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::create(WaitOptions wait, LoopCounters counters,
                                                             std::unique_ptr<Waiter> waiter) {
  auto bell = Doorbell::create();
  if (!bell.ok()) return bell.status();
  if (waiter == nullptr) waiter = std::make_unique<PpollWaiter>();
  return std::unique_ptr<EventLoop>(new EventLoop(wait, counters, *std::move(bell), std::move(waiter)));
}

EventLoop::EventLoop(WaitOptions wait, LoopCounters counters, Doorbell stop_bell, std::unique_ptr<Waiter> waiter)
    : wait_(wait), counters_(counters), stop_bell_(std::move(stop_bell)), waiter_(std::move(waiter)) {
  waiter_->watch(stop_bell_.fd(), [this] { stop_bell_.drain(); });
}

EventLoop::~EventLoop() = default;

void EventLoop::add(Pollable& pollable) { pollables_.push_back(&pollable); }

void EventLoop::add(Pollable& pollable, Fabric& fabric, EndpointId endpoint) {
  add(pollable);
  endpoints_.push_back({&fabric.sleeping(endpoint), &fabric.bell(endpoint)});
  endpoints_.back().word->lower();  // an earlier incarnation may have died while asleep
  const Doorbell* bell = endpoints_.back().bell;
  waiter_->watch(bell->fd(), [bell] { bell->drain(); });
}

void EventLoop::at_round_end(std::function<void()> flush) { flushes_.push_back(std::move(flush)); }

void EventLoop::watch(int fd, std::function<void()> readable) {
  unwatch(fd);
  watched_.push_back(fd);
  waiter_->watch(fd, std::move(readable));
}

void EventLoop::unwatch(int fd) {
  if (std::erase(watched_, fd) > 0) waiter_->unwatch(fd);
}

void EventLoop::stop() {
  stopped_.store(true, std::memory_order_release);
  stop_bell_.ring();
}

void EventLoop::run() {
  while (!stopped()) {
    const std::uint64_t now_ns = monotonic_ns();
    count(counters_.polls);
    if (poll_all(now_ns) > 0) {
      idle_since_ns_ = 0;
      yields_done_ = 0;
      spurious_wakeups_ = 0;
    } else {
      idle(now_ns);
    }
    // A busy loop also checks its descriptors. After a sleep they were checked later than `now_ns`.
    if (!watched_.empty() && now_ns >= polled_ns_ + kDescriptorPollNs) {
      if (wait_for_descriptors(0)) waiter_->dispatch();
    }
  }
}

int EventLoop::poll_all(std::uint64_t now_ns) {
  int work = 0;
  for (Pollable* pollable : pollables_) work += pollable->poll(now_ns);
  for (const auto& flush : flushes_) flush();
  return work;
}

bool EventLoop::any_readable() {
  return std::any_of(pollables_.begin(), pollables_.end(), [](Pollable* pollable) { return pollable->readable(); });
}

// The round found no work: stay awake a little, or sleep.
void EventLoop::idle(std::uint64_t now_ns) {
  if (idle_since_ns_ == 0) {
    idle_since_ns_ = now_ns;
  } else if (now_ns - idle_round_ns_ > kCoreWantedNs) {
    no_spin_until_ns_ = now_ns + kNoSpinNs;  // another thread ran between two idle rounds
  }
  idle_round_ns_ = now_ns;
  if (now_ns - idle_since_ns_ < wait_.spin_ns && now_ns >= no_spin_until_ns_) {
    pause_core();
  } else if (yields_done_ < wait_.yields && now_ns >= no_yield_until_ns_) {
    ++yields_done_;
    const std::uint64_t before_ns = monotonic_ns();  // the polls since `now_ns` are this loop's own
    ::sched_yield();
    note_yield(before_ns, monotonic_ns());
  } else {
    sleep();
  }
}

// A thread that takes the core once in a while costs little; one that goes on taking it is met less and less often.
void EventLoop::note_yield(std::uint64_t from_ns, std::uint64_t to_ns) {
  if (to_ns - from_ns > kCoreWantedNs) no_spin_until_ns_ = to_ns + kNoSpinNs;
  if (to_ns - from_ns <= kCoreTakenNs) {
    no_yield_ns_ = 0;
    return;
  }
  no_yield_ns_ = std::clamp(2 * no_yield_ns_, kNoYieldNs, kNoYieldNsMax);
  no_yield_until_ns_ = to_ns + no_yield_ns_;
}

void EventLoop::sleep() {
  for (const Endpoint& endpoint : endpoints_) endpoint.word->raise();
  store_load_fence();  // pairs with the sender's, between its message and its load of the word (transport/waker.h)
  // If readable() stays true and no poll finds work (half a message of a dead sender), the core must not stay busy for
  // it.
  const bool distrust = spurious_wakeups_ >= kSpuriousWakeupsMax;
  if (any_readable() && !distrust) {
    ++spurious_wakeups_;
    for (const Endpoint& endpoint : endpoints_) endpoint.word->lower();
    return;
  }
  std::uint64_t timeout_ns = nearest_deadline_ns();
  if (timeout_ns != Pollable::kNever) timeout_ns -= std::min(timeout_ns, monotonic_ns());
  if (distrust) timeout_ns = std::min(timeout_ns, kSpuriousWakeupSleepNs);
  count(counters_.sleeps);
  const bool woken = wait_for_descriptors(timeout_ns);
  for (const Endpoint& endpoint : endpoints_) endpoint.word->lower();
  idle_round_ns_ = polled_ns_;
  if (woken) {
    count(counters_.wakeups);
    idle_since_ns_ = 0;
    yields_done_ = 0;
    waiter_->dispatch();  // drains the bells, before the next poll looks for what they announced
  }
}

std::uint64_t EventLoop::nearest_deadline_ns() const {
  std::uint64_t nearest = Pollable::kNever;
  for (const Pollable* pollable : pollables_) nearest = std::min(nearest, pollable->deadline_ns());
  return nearest;
}

bool EventLoop::wait_for_descriptors(std::uint64_t timeout_ns) {
  const bool ready = waiter_->wait(timeout_ns);
  polled_ns_ = monotonic_ns();
  return ready;
}

}  // namespace ingot::transport_host
