// A reader's handle on a view: reads in place, moves on to the next generation when there is one, and connects anew
// when the publisher has gone. A read makes no system call unless it has to wait or to move on.
//
// What it answers was decided by the replicas, and is the state at one revision. A handle never goes back in time, also
// over generations and publishers, and with require() never misses a write whose answer its owner has seen.
//
// After a fork, parent and child may both go on with a handle: the mappings are shared, what was read keeps its place
// in time, and the child asks for tickets of its own. No thread, no signal handler, no lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "core/prng.h"
#include "replication/view/board/board.h"
#include "replication/view/generation/answer.h"
#include "replication/view/generation/reader.h"
#include "replication/view/handle/fork_mark.h"
#include "replication/view/handle/limits.h"
#include "replication/view/handle/tickets.h"
#include "replication/view/handle/view_error.h"

namespace ingot::inline replication_view_handle {

class MappedView;

struct ViewDemands {
  // How long a read waits for a revision or an age that it must have, or for a view if there is none. 0: not at all.
  std::int64_t wait_ms = 1000;
  // A read of a state that may be older ends with kTooStale. Negative: any age will do.
  std::int64_t age_max_ms = -1;
};

// Since the handle was opened, or the process forked.
struct ViewCounts {
  std::uint64_t reads = 0;
  std::uint64_t overtaken = 0;  // roots that were reclaimed under a read, which began again
  std::uint64_t tickets = 0;    // that were asked for
  std::uint64_t refused = 0;    // that were no tickets, or led to no view
  std::uint64_t moves = 0;      // to another mapping
};

// Not thread-safe; one for each thread. An answer's views end with the next read into it. After an error it is empty.
class ViewHandle {
 public:
  // Asks for a ticket, which the first read, or wait_for(), waits for. `seed`: of the jitter.
  ViewHandle(std::unique_ptr<ViewTickets> tickets, const ViewDemands& demands, std::uint64_t seed);
  ~ViewHandle();
  ViewHandle(const ViewHandle&) = delete;
  ViewHandle& operator=(const ViewHandle&) = delete;

  void set_demands(const ViewDemands& demands) { demands_ = demands; }

  // The keys that exist of those asked for, in their order, all at one root.
  ViewError get(std::string_view key, ViewAnswer& answer);
  ViewError get_several(std::span<const std::string_view> keys, ViewAnswer& answer);
  ViewError range(const ViewRange& range, ViewAnswer& answer);
  // The same, and how many keys there are in the whole range at that root.
  ViewError range(const ViewRange& range, ViewAnswer& answer, std::uint64_t& keys);
  ViewError prefix(std::string_view prefix, ViewAnswer& answer);
  // Keys from `begin` on, below `end`, or all of them if `end` is empty.
  ViewError count(std::string_view begin, std::string_view end, std::uint64_t& keys);
  // Each key that changed after a revision, once, at its newest state up to revision(). kTooOld, also if they have more
  // than kChangesAnswerBytesMax: list anew, and go on from there.
  ViewError changes(ViewRevision since, ViewAnswer& answer);

  // From now on no read answers from before this revision, such as that of a put's answer.
  void require(ViewRevision revision) { required_ = std::max(required_, revision); }

  // Whether the view has a revision (0: any), or comes to have it within `wait_ms`: kNone or why not.
  ViewError wait_for(ViewRevision revision, std::int64_t wait_ms);

  // Of the newest read that ended with kNone or kTooOld; 0: none.
  ViewRevision revision() const { return revision_; }
  // How old the state may be that a read finds now, in ms; nothing: unknown, since no publisher tells it.
  std::optional<std::int64_t> age_ms();

  std::uint64_t identity() const { return identity_; }  // of the instance; 0: none was reached yet
  std::uint64_t generation() const;                     // its number; 0: there is none
  const BoardReader* board() const;                     // nullptr: there is none. Until the next call
  // Why the last ticket led to no view, in the publisher's words if it gave none; OK: it did, or none came yet.
  const absl::Status& refusal() const { return refusal_; }
  const ViewCounts& counts() const { return counts_; }

 private:
  template <typename Read>
  ViewError read(const Read& read);
  template <typename Read>
  ViewError read_until(std::int64_t deadline_ns, ViewRevision floor, const Read& read);
  template <typename Read>
  ViewError attempt(ViewRevision floor, const Read& read);
  ViewError ended(ReadOutcome outcome);
  std::optional<std::int64_t> age_ns(std::int64_t barrier_ns) const;

  bool at_rest() const;
  const MappedView* newest() const { return next_ ? next_.get() : current_.get(); }
  void move_on(std::int64_t now_ns);
  std::int64_t ask_at_ns() const;
  void poll(std::int64_t now_ns, int wait_ms);
  void accept(absl::StatusOr<ViewTicket> ticket);
  void use_next();
  void pause(std::int64_t now_ns, std::int64_t deadline_ns);
  void enter_process();

  std::unique_ptr<ViewTickets> tickets_;
  ViewDemands demands_;
  Prng prng_;
  ForkMark fork_mark_;
  std::unique_ptr<MappedView> current_;
  std::unique_ptr<MappedView> next_;  // of a newer ticket: takes the place of current_ when it is not behind
  bool another_ = false;              // a ticket was of another instance
  bool damaged_ = false;              // why there is no current_
  absl::Status refusal_;
  ViewRevision revision_ = 0;
  ViewRevision required_ = 0;
  std::uint64_t identity_ = 0;
  bool asked_ = false;            // and nothing came yet
  bool last_failed_ = false;      // of the tickets
  std::int64_t asked_ns_ = 0;
  std::int64_t noticed_ns_ = 0;   // when another ticket was needed first; 0: none is
  double jitter_ = 0;             // of the next question: a share of the most
  std::int64_t polled_ns_ = 0;
  std::int64_t pause_ns_ = 0;
  ViewCounts counts_;
};

}  // namespace ingot::replication_view_handle
