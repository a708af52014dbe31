// Random requests of etcd's KV and Lease services, good and bad ones, reproducible from a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "core/prng.h"
#include "proto/etcd/rpc.pb.h"

namespace ingot {

using KvRequest = std::variant<etcdserverpb::RangeRequest, etcdserverpb::PutRequest, etcdserverpb::DeleteRangeRequest,
                               etcdserverpb::TxnRequest, etcdserverpb::CompactionRequest,
                               etcdserverpb::LeaseGrantRequest, etcdserverpb::LeaseRevokeRequest,
                               etcdserverpb::LeaseTimeToLiveRequest, etcdserverpb::LeaseLeasesRequest>;

// A dozen keys, so that requests interact, and so that etcd's sort, which is stable only for short lists, leaves equal
// elements in the order of their keys. No lease ends by time. Most requests are valid; about one in ten has a fault.
// Not thread-safe.
class RandomRequests {
 public:
  // serializable: some of the reads are; both servers must then answer those from the newest state.
  RandomRequests(std::uint64_t seed, bool serializable) : prng_(seed), serializable_(serializable) {}

  KvRequest next();

  // Requests use revisions near this one.
  void observe(std::int64_t revision) { revision_ = std::max(revision_, revision); }
  void observe_compaction(std::int64_t revision) { compacted_ = std::max(compacted_, revision); }

 private:
  std::string key();
  std::string value();
  std::string range_end(const std::string& key);
  std::int64_t read_revision();
  std::int64_t bound_revision();

  etcdserverpb::RangeRequest range();
  etcdserverpb::PutRequest put();
  etcdserverpb::DeleteRangeRequest delete_range(int depth);  // 0: not in a transaction
  etcdserverpb::CompactionRequest compaction();
  KvRequest lease();
  etcdserverpb::TxnRequest whole_txn();
  etcdserverpb::TxnRequest txn(int depth);
  void add_compare(etcdserverpb::TxnRequest& txn);
  void set_operation(etcdserverpb::RequestOp& operation, int depth);

  Prng prng_;
  bool serializable_;
  bool may_ignore_ = true;  // puts may have ignore_value and ignore_lease
  std::int64_t revision_ = 1;
  std::int64_t compacted_ = 0;
};

}  // namespace ingot
