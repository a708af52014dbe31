// Points in time at which something of a connection or of a call is due. Setting, changing and cancelling allocate
// nothing.
#pragma once

#include <boost/intrusive/set.hpp>
#include <cstdint>

namespace ingot::rpc::inline server {

// A member of the object that is to be told. Its destruction cancels it. Not thread-safe.
class Timer : public boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // Calls `due(owner)`.
  Timer(void* owner, void (*due)(void*)) : owner_(owner), due_(due) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool set() const { return is_linked(); }
  std::uint64_t when_ns() const { return when_ns_; }
  void cancel() {
    if (is_linked()) unlink();
  }

  bool operator<(const Timer& other) const { return when_ns_ < other.when_ns_; }

 private:
  friend class Timers;

  void* owner_;
  void (*due_)(void*);
  std::uint64_t when_ns_ = kNever;
};

// Outlives its timers or is destroyed with none of them set.
class Timers {
 public:
  ~Timers() { timers_.clear(); }

  // Replaces an earlier time.
  void set(Timer& timer, std::uint64_t when_ns) {
    timer.cancel();
    timer.when_ns_ = when_ns;
    timers_.insert(timer);
  }

  std::uint64_t nearest_ns() const { return timers_.empty() ? Timer::kNever : timers_.begin()->when_ns_; }

  // Calls what is due, earliest first, each once and no more than `most`: others, and a callback that sets its timer to
  // a time that has passed, are called in the next round.
  int run(std::uint64_t now_ns, int most) {
    int called = 0;
    Tree due;
    for (int i = 0; i < most && !timers_.empty() && timers_.begin()->when_ns_ <= now_ns; ++i) {
      Timer& timer = *timers_.begin();
      timer.unlink();
      due.insert(due.end(), timer);
    }
    while (!due.empty()) {  // a callback may cancel those that are still in it
      Timer& timer = *due.begin();
      timer.unlink();
      timer.due_(timer.owner_);
      ++called;
    }
    return called;
  }

 private:
  using Tree = boost::intrusive::multiset<Timer, boost::intrusive::constant_time_size<false>>;
  Tree timers_;
};

}  // namespace ingot::rpc::server
