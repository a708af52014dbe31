// Random requests over few keys and values, so that they interact: ranges, old and invalid revisions, nested
// transactions, compactions, and every kind of bad input.
#pragma once

#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/store/api.h"

namespace ingot::kv {

// Deterministic for a seed and for the revisions passed in.
class RandomRequests {
 public:
  explicit RandomRequests(std::uint64_t seed) : rng_(seed) {}

  // `newest` is the store's revision; requests use revisions near it.
  Request next(Revision newest);
  // The same, also about leases and their time, and seldom about the alarm or for events.
  Request next_or_alarm(Revision newest);

  // The parts, for tests that need more of one kind.
  RangeRequest range();
  PutRequest put();
  DeleteRangeRequest remove();
  TxnRequest txn(int depth);
  EventsRequest events();
  Request lease();  // or a tick

 private:
  std::string key();
  std::int64_t lease_id();
  std::string range_end();
  std::string value();
  Revision revision();
  Compare compare();
  std::vector<Operation> operations(int depth);
  bool one_in(int n) { return rng_.below(n) == 0; }

  Prng rng_;
  Revision newest_ = 1;
  bool leases_ = false;  // requests about leases have come: puts name them often
  std::uint64_t ticks_ = 0;
  std::uint64_t leadership_ = 1;
};

}  // namespace ingot::kv
