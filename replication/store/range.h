// What a range request finds: etcd's selection, order, filters, limit and pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/wire.h"
#include "replication/store/api.h"
#include "replication/store/history.h"
#include "replication/store/range_walk.h"

namespace ingot::kv {

// The revisions that a read can use.
struct ReadPoint {
  Revision current = 0;    // the newest revision, including a transaction's own writes
  Revision compacted = 0;  // lower revisions cannot be read; -1: never compacted

  // The revision that a request's field stands for: 0 or less is the newest.
  Revision meant_by(Revision requested) const { return requested > 0 ? requested : current; }
};

// kOk, kCompacted or kFutureRevision for a request's revision field.
Code check_revision(const ReadPoint& point, Revision requested);

// What a range found: one page of it, by reference. Valid until the history frees a version that it has found.
class RangeAnswer {
 public:
  // Has found nothing yet. REQUIRES: the request is valid and check_revision said kOk; the request outlives this.
  RangeAnswer(const RangeRequest& request, const ReadPoint& point);
  // The same, and finds all at once.
  RangeAnswer(const History& history, const RangeRequest& request, const ReadPoint& point);

  // Goes on finding; false: the steps are spent. Ends early if the answer is too long in any case.
  bool find(const History& history, StepBudget& steps);

  // Bytes of the encoded key_values; more than kResultBytesMax: not all were looked at.
  std::size_t bytes() const { return bytes_; }
  // Writes the result's body (grammar in replication/store/codec.h).
  void write(WireWriter& out, Revision header_revision) const;
  // The same as a struct.
  RangeResult copy(Revision header_revision) const;

 private:
  struct Found {
    const KeyRecord* record;
    const Version* version;
  };
  using FoundList = absl::InlinedVector<Found, 1>;

  bool collect(const History& history, StepBudget& steps);
  bool keep(const KeyRecord& record, const Version& version);
  bool sort(StepBudget& steps);
  std::int64_t compare_steps(const Version& version) const;
  bool comes_before(const Found& a, const Found& b) const;
  KeyValueView view(const Found& found) const;

  const RangeRequest& request_;
  const Revision revision_;
  const bool sorted_;            // by something else than the key
  const std::size_t taken_max_;  // by key
  const std::size_t kept_max_;   // of those, the best
  RangeWalk walk_;
  bool collected_ = false;
  std::size_t taken_ = 0;
  FoundList found_;        // if sorted_ a heap, the last one of the order first
  std::size_t heap_ = 0;   // of found_, once it is collected: the rest is in its place
  std::size_t bytes_ = 0;
  RangeResult head_;  // all but kvs
};

}  // namespace ingot::kv
