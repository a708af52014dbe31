// A lease that is kept alive, and whether it ends when it may. Pure.
#pragma once

#include <cstdint>

namespace ingot::load {

// Times are nanoseconds of the monotonic clock. Not thread-safe.
class KeptLease {
 public:
  KeptLease() = default;
  // Granted, by a request of that time.
  KeptLease(std::int64_t id, std::uint64_t asked_ns, std::uint64_t ttl_ns)
      : id_(id), lives_until_ns_(asked_ns + ttl_ns) {}

  enum class Answer : std::uint8_t { kKept, kEnded, kEndedEarly };

  // The answer to a keep-alive: a remaining time of 0 says that there is no such lease. It was decided after
  // `asked_ns`, so the lease lives at least so long from then on.
  Answer take(std::uint64_t asked_ns, std::uint64_t ttl_ns, std::uint64_t now_ns) {
    if (ttl_ns == 0) {
      ended_ = true;
      return now_ns < lives_until_ns_ ? Answer::kEndedEarly : Answer::kEnded;
    }
    if (asked_ns + ttl_ns > lives_until_ns_) lives_until_ns_ = asked_ns + ttl_ns;
    return Answer::kKept;
  }

  std::int64_t id() const { return id_; }
  bool ended() const { return ended_; }

 private:
  std::int64_t id_ = 0;
  std::uint64_t lives_until_ns_ = 0;
  bool ended_ = false;
};

}  // namespace ingot::load
