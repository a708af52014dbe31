// Finds the replicas that the supervisor's page shows as doubted, for a reader that polls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "core/limits.h"
#include "core/types.h"
#include "replication/pages/limits.h"
#include "replication/pages/page_access.h"

namespace ingot::inline replication_pages {

// The kernel has reported a doubted replica's process stopped; it may have gone on since (ProcessEntry::doubted). Not
// thread-safe.
class DoubtWatch {
 public:
  using Tell = absl::FunctionRef<void(ReplicaIncarnation)>;

  // `page`: null: no replica is ever doubted; otherwise it outlives this. `self`: the reader, if it is a replica.
  // REQUIRES: replicas <= kReplicasMax.
  DoubtWatch(const DaemonPage* page, int replicas, std::optional<ReplicaIncarnation> self = std::nullopt)
      : page_(page), replicas_(static_cast<std::size_t>(replicas)), self_(self) {}

  // Whether the page has changed since the last poll. One load.
  bool news() const { return page_ != nullptr && page_->doubts.get() != seen_; }

  // Calls `continued` for each that is doubted no longer, then `stopped` for each that is: when the page has changed,
  // and again at each call for kDoubtRepeatNs. To be called after the messages that have arrived are handled.
  //
  // A reader that the page shows as doubted runs nevertheless, so the page is of before; the others may have gone on,
  // too. Until the page says that the reader has, `stopped` is not called. Otherwise two that were stopped and went on
  // together would take the roles from each other. Of the reader itself nothing is told.
  void poll(std::uint64_t now_ns, Tell stopped, Tell continued) {
    if (news()) {
      seen_ = doubts_in(*page_);
      repeat_until_ns_ = now_ns + kDoubtRepeatNs;
    }
    if (now_ns < repeat_until_ns_) tell(stopped, continued);
  }

 private:
  Incarnation doubted(std::size_t id) const {
    return Incarnation(static_cast<std::uint32_t>(page_->replicas[id].doubted.get()));
  }

  void tell(Tell stopped, Tell continued) {
    const bool outdated = self_ && doubted(self_->id.value()) == self_->incarnation;
    for (std::size_t id = 0; id < replicas_; ++id) {
      const EndpointId replica(static_cast<std::uint16_t>(id));
      if (self_ && replica == self_->id) continue;
      const Incarnation before = told_[id];
      const Incarnation now = doubted(id);
      if (before != Incarnation(0) && before != now) continued({replica, before});
      told_[id] = outdated && before != now ? Incarnation(0) : now;
      if (now != Incarnation(0) && !outdated) stopped({replica, now});
    }
  }

  const DaemonPage* page_;
  std::size_t replicas_;
  std::optional<ReplicaIncarnation> self_;
  std::uint64_t seen_ = 0;                        // of DaemonPage::doubts
  std::uint64_t repeat_until_ns_ = 0;             // 0: nothing was seen yet
  std::array<Incarnation, kReplicasMax> told_{};  // by replica; 0: not told, or told that it has gone on
};

}  // namespace ingot::replication_pages
