// A reader's handle on a view: reads in place, moves on to the next generation when there is one, and connects anew
// when the publisher has gone. A read makes no system call unless it has to wait or to move on.
//
// What it answers was decided by the replicas, and is the state at one revision. A handle never goes back in time, also
// over generations and publishers, and with require() never misses a write whose answer its owner has seen.
//
// After a fork, parent and child may both go on with a handle: the mappings are shared, and the child asks for tickets
// of its own. No thread, no signal handler, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "replication/view/board/board.h"
#include "replication/view/generation/answer.h"
#include "replication/view/generation/reader.h"
#include "replication/view/handle/limits.h"
#include "replication/view/handle/tickets.h"
#include "replication/view/handle/view_error.h"

namespace ingot::inline replication_view_handle {

struct ViewDemands {
  // How long a read waits for a revision that it must have, or for a view if there is none. 0: it never waits.
  std::int64_t wait_ms = 1000;
  // A read of a state that may be older ends with kTooStale. Negative: any age will do.
  std::int64_t age_max_ms = -1;
};

// Since the handle was opened, or the process forked.
struct ViewCounts {
  std::uint64_t reads = 0;
  std::uint64_t overtaken = 0;  // roots that were reclaimed under a read, which began again
  std::uint64_t tickets = 0;    // that were asked for
  std::uint64_t moves = 0;      // to another generation
};

// Not thread-safe; one for each thread. All answers end with the next read that has the same ViewAnswer.
class ViewHandle {
 public:
  // Asks for a ticket and waits for it. The handle is there in any case; kNoView: reads will look for a view, too.
  // `seed`: of the jitter.
  static std::unique_ptr<ViewHandle> open(std::unique_ptr<ViewTickets> tickets, const ViewDemands& demands,
                                          std::uint64_t seed, ViewError& error);
  ~ViewHandle();
  ViewHandle(const ViewHandle&) = delete;
  ViewHandle& operator=(const ViewHandle&) = delete;

  void set_demands(const ViewDemands& demands) { demands_ = demands; }

  // The keys that exist of those asked for, in their order, all at one root. After an error the answer is empty.
  ViewError get(std::string_view key, ViewAnswer& answer);
  ViewError get_several(std::span<const std::string_view> keys, ViewAnswer& answer);
  ViewError range(const ViewRange& range, ViewAnswer& answer);
  ViewError prefix(std::string_view prefix, ViewAnswer& answer);
  // Keys from `begin` on, below `end`, or all of them if `end` is empty.
  ViewError count(std::string_view begin, std::string_view end, std::uint64_t& keys);
  // Each key that changed after a revision, once, at its newest state. kTooOld: list anew, and go on from there.
  ViewError changes(const ViewChanges& changes, ViewAnswer& answer);

  // From now on no read answers from before this revision, such as that of a put's answer.
  void require(ViewRevision revision);

  // Whether the view has a revision, or has it within `wait_ms`: kNone or kBehind (or kNoView, kAnotherInstance).
  ViewError wait_for(ViewRevision revision, std::int64_t wait_ms);

  // Of the last read that ended with kNone; 0: none.
  ViewRevision revision() const { return revision_; }
  // How old the state may be that a read finds now, in ms; nothing: unknown, since no publisher tells it.
  std::optional<std::int64_t> age_ms();

  std::uint64_t identity() const { return identity_; }            // of the instance; 0: none was reached yet
  std::uint64_t generation_number() const { return number_; }     // 0: likewise
  const ViewCounts& counts() const { return counts_; }
  // The board that the handle has, nullptr: none. Until the next call.
  const BoardReader* board() const;

 private:
  ViewHandle(std::unique_ptr<ViewTickets> tickets, const ViewDemands& demands, std::uint64_t seed);

  std::unique_ptr<ViewTickets> tickets_;
  ViewDemands demands_;
  ViewRevision revision_ = 0;
  std::uint64_t identity_ = 0;
  std::uint64_t number_ = 0;
  ViewCounts counts_;
};

}  // namespace ingot::replication_view_handle
