// Random requests that make history faster than a step of compaction frees it: transactions of many changes that put
// and delete the same keys at one revision, values of very different sizes, and compactions, often at the newest one.
#pragma once

#include <cstdint>
#include <string>

#include "core/prng.h"
#include "replication/store/api.h"

namespace ingot::kv {

// Deterministic for a seed and for the revisions passed in.
class ChurnRequests {
 public:
  explicit ChurnRequests(std::uint64_t seed) : rng_(seed), keys_(20 + static_cast<int>(rng_.below(300))) {}

  // `newest` is the store's revision, `compacted` the compacted one.
  Request next(Revision newest, Revision compacted);

  // From the compacted revision or later on, of all keys or of some.
  EventsRequest events(Revision newest, Revision compacted);

 private:
  std::string key();
  std::string value();
  PutRequest put(int key);
  Request lease();
  Operation delete_from_key_on();
  TxnRequest txn();
  void add_nested(TxnRequest& txn);

  Prng rng_;
  const int keys_;
  std::uint64_t ticks_ = 0;
};

}  // namespace ingot::kv
