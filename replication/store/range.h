// What a range request finds: etcd's selection, order, filters, limit and pages.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/wire.h"
#include "replication/store/api.h"
#include "replication/store/history.h"

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

// What a range found: one page of it, by reference. Valid until the history changes.
class RangeAnswer {
 public:
  // REQUIRES: the request is valid and check_revision said kOk.
  RangeAnswer(const History& history, const RangeRequest& request, const ReadPoint& point);

  // Bytes of the encoded key_values.
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

  void collect(const History& history, Revision revision);
  void sort();
  void cut();
  KeyValueView view(const Found& found) const;

  const RangeRequest& request_;
  FoundList found_;
  std::size_t bytes_ = 0;
  RangeResult head_;  // all but kvs
};

}  // namespace ingot::kv
