// Leases and their time: which there are, for how long each was granted, and when it ends.
//
// Time is agreed: it is the sum of the ticks that the group has decided (replication/store/tick.h). A tick may be about
// time that has passed before a grant or a keep-alive that was decided before it, so a lease lasts kLeaseGraceMs longer
// than it was granted for, and never ends early. When another leadership ticks for the first time, every lease has its
// whole time again, as in etcd. So whatever stops or dies makes leases longer.
//
// What ends in which order follows from what save() writes and from the calls alone: leases that were loaded go on as
// those that were saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "core/wire.h"
#include "replication/store/api.h"
#include "replication/store/quota.h"
#include "replication/store/tick.h"

namespace ingot::kv {

// Without their keys (replication/store/attachments.h). Not thread-safe. Movable.
class Leases {
 public:
  bool contains(std::int64_t id) const { return leases_.contains(id); }
  std::size_t size() const { return leases_.size(); }

  // kOk, or why such a lease cannot be granted.
  Code check(std::int64_t id, std::int64_t ttl_s) const;
  // Returns for how many seconds: at least kLeaseTtlMinS. REQUIRES: check() says kOk.
  std::int64_t grant(std::int64_t id, std::int64_t ttl_s);
  // REQUIRES: contains(id).
  void erase(std::int64_t id);
  // The lease has its whole time again. Returns for how many seconds it was granted; 0: there is none.
  std::int64_t keep_alive(std::int64_t id);

  struct TimeToLive {
    std::int64_t granted_s = 0;
    std::int64_t left_s = 0;  // whole seconds, rounded down as etcd does it: never all that were granted
  };
  std::optional<TimeToLive> time_to_live(std::int64_t id) const;  // nothing: there is none

  // The ids, in the order in which the leases end.
  std::vector<std::int64_t> ids() const;

  // Another life begins: time is 0, and all leases have their whole time.
  void begin_anew();

  // Time passes. A tick that is not newer than the last one does nothing.
  void tick(const Tick& tick);
  // A lease whose time is over: the one that has ended first, of several the one with the lowest id. It stays until
  // erase(). Nothing: there is none, or `looks` leases have turned out to have their whole time again.
  std::optional<std::int64_t> next_ended(int& looks);
  // next_ended() may find one.
  bool behind() const { return !ends_.empty() && ends_.begin()->first <= clock_ms_; }

  const Tick& last_tick() const { return last_tick_; }

  std::int64_t counted() const { return static_cast<std::int64_t>(size()) * kLeaseCountedBytes; }  // by the quota
  std::uint64_t digest() const { return digest_of(sum_); }  // each call keeps it up to date; 0: nothing ever happened
  std::uint64_t compute_digest() const;                     // the same from scratch

  void save(WireWriter& out) const;
  std::size_t save_bytes() const;  // an upper bound
  // Fails the reader, and returns an unspecified value, if save() did not write what it reads.
  static Leases load(WireReader& in);

 private:
  struct Lease {
    std::int64_t ttl_s = 0;
    std::int64_t end_ms = 0;  // its place among ends_; the lease ends there, or later (real_end_ms)
  };

  static std::uint64_t hash_of(std::int64_t id, const Lease& lease);
  static std::int64_t whole_ms(std::int64_t ttl_s);
  std::int64_t real_end_ms(const Lease& lease) const;
  std::uint64_t digest_of(std::uint64_t sum) const;
  void insert(std::int64_t id, const Lease& lease);
  void move(std::int64_t id, std::int64_t end_ms);

  absl::flat_hash_map<std::int64_t, Lease> leases_;
  absl::btree_set<std::pair<std::int64_t, std::int64_t>> ends_;  // end_ms and id of each lease
  std::int64_t clock_ms_ = 0;     // the sum of all ticks
  std::int64_t restored_ms_ = 0;  // when the present leadership ticked first: then all had their whole time
  Tick last_tick_;                // without its ms
  std::uint64_t sum_ = 0;         // of the leases' hashes
};

}  // namespace ingot::kv
