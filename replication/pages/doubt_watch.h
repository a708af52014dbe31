// Finds the replicas that the supervisor's page shows as doubted, for a reader that polls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "core/limits.h"
#include "core/types.h"
#include "replication/pages/limits.h"
#include "replication/pages/page_access.h"

namespace ingot {

// The kernel has reported a doubted replica's process stopped; it may have gone on since (ProcessEntry::doubted). Not
// thread-safe.
class DoubtWatch {
 public:
  using Tell = absl::FunctionRef<void(ReplicaIncarnation)>;

  // `page`: null: no replica is ever doubted; otherwise it outlives this. REQUIRES: replicas <= kReplicasMax.
  DoubtWatch(const DaemonPage* page, int replicas) : page_(page), replicas_(static_cast<std::size_t>(replicas)) {}

  // Whether the page has changed since the last poll. One load.
  bool news() const { return page_ != nullptr && page_->doubts.get() != seen_; }

  // Calls `continued` for each that is doubted no longer, then `stopped` for each that is: when the page has changed,
  // and again at each call for kDoubtRepeatNs. To be called after the messages that have arrived are handled.
  void poll(std::uint64_t now_ns, Tell stopped, Tell continued) {
    if (news()) {
      seen_ = doubts_in(*page_);
      repeat_until_ns_ = now_ns + kDoubtRepeatNs;
    }
    if (now_ns < repeat_until_ns_) tell(stopped, continued);
  }

 private:
  void tell(Tell stopped, Tell continued) {
    for (std::size_t id = 0; id < replicas_; ++id) {
      const EndpointId replica(static_cast<std::uint16_t>(id));
      const Incarnation before = told_[id];
      told_[id] = Incarnation(static_cast<std::uint32_t>(page_->replicas[id].doubted.get()));
      if (before != Incarnation(0) && before != told_[id]) continued({replica, before});
      if (told_[id] != Incarnation(0)) stopped({replica, told_[id]});
    }
  }

  const DaemonPage* page_;
  std::size_t replicas_;
  std::uint64_t seen_ = 0;             // of DaemonPage::doubts
  std::uint64_t repeat_until_ns_ = 0;  // 0: nothing was seen yet
  std::array<Incarnation, kReplicasMax> told_{};
};

}  // namespace ingot
