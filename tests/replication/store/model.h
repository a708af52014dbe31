// A simple model of the store: a full copy of the keys for every revision, and every rule written out. Shares nothing
// with the implementation but the structs of replication/store/api.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replication/store/api.h"

namespace ingot::kv {

class Model {
 public:
  // `quota_bytes` 0: there is none.
  explicit Model(std::int64_t quota_bytes = 0) : quota_bytes_(quota_bytes) {}

  // Runs any request but a hash.
  Result run(const Request& request);

  // What the quota counts, added up anew from every change that was ever made.
  struct Counted {
    std::int64_t live = 0, history = 0;
  };
  Counted counted() const;
  bool no_space() const { return no_space_; }

  Revision revision() const { return static_cast<Revision>(copies_.size()) - 1; }
  Revision compacted() const { return compacted_; }
  std::size_t live_keys() const { return copies_.back().size(); }
  std::size_t leases() const { return leases_.size(); }

 private:
  using Keys = std::map<std::string, KeyValue>;

  struct Change {
    Revision revision = 0;
    std::string key;
    bool tombstone = false;
    std::size_t value_bytes = 0;
    std::int64_t lease = 0;
    KeyValue kv{};  // as it is afterwards
  };

  struct Lease {
    std::int64_t ttl_s = 0;
    std::int64_t end_ms = 0;
  };

  Code put(Keys& keys, const PutRequest& r, PutResult& result);
  Code remove(Keys& keys, const DeleteRangeRequest& r, DeleteRangeResult& result);
  Code change(const std::string& key, bool tombstone, std::size_t value_bytes, std::int64_t lease);
  Code run_lease(const Request& request, Result& result);
  Code grant(const LeaseGrantRequest& r, LeaseGrantResult& result);
  LeaseTimeToLiveResult time_to_live(const LeaseTimeToLiveRequest& r) const;
  void tick(const Tick& tick);
  void end_lease(std::int64_t id);
  std::vector<std::int64_t> by_end() const;
  Code run_checked(const Request& request, Result& result);
  Code check_range(const RangeRequest& r) const;
  EventsResult events(const EventsRequest& r) const;
  Event event_of(const Change& change, bool prev_kv) const;
  RangeResult range(const Keys& newest, const RangeRequest& r) const;
  Code txn(const TxnRequest& r, TxnResult& result);
  bool holds(const Compare& compare) const;
  Code check_puts(const std::vector<Operation>& operations) const;
  Code check_ranges(const std::vector<Operation>& operations) const;
  const std::vector<Operation>& branch(const TxnRequest& r) const;
  Code execute(Keys& keys, const TxnRequest& r, TxnResult& result);
  Code execute(Keys& keys, const Operation& operation, OperationResult& result);

  std::vector<Keys> copies_{Keys{}, Keys{}};  // index = revision; there is no revision 0
  std::vector<Change> changes_;                // in their order
  Revision compacted_ = -1;
  const std::int64_t quota_bytes_;
  bool no_space_ = false;
  std::map<std::int64_t, Lease> leases_;
  std::int64_t clock_ms_ = 0;
  Tick last_tick_;
  bool changed_ = false;  // the running transaction has written a key
};

}  // namespace ingot::kv
