#include "tests/services/etcd/random_requests.h"

#include <iterator>

namespace ingot {

namespace pb = etcdserverpb;

namespace {

// Prefixes of each other, and bytes at both ends of the order.
const std::string kKeys[] = {"a",  "a/b", "a/b/c", "a/c",  std::string("a\0", 2), "b",
                             "b0", "c",   "\xff",  "\xfe", "a\xff",               "longer-key-than-the-others"};

const std::string kToTheEnd(1, '\0');  // as range_end: all keys from `key` on

}  // namespace

KvRequest RandomRequests::next() {
  const double kind = prng_.unit();
  if (kind < 0.35) return put();
  if (kind < 0.65) return range();
  if (kind < 0.77) return delete_range(0);
  if (kind < 0.92) return whole_txn();
  if (kind < 0.98) return lease();
  return compaction();
}

// Of a few leases, which are granted for hours.
KvRequest RandomRequests::lease() {
  constexpr std::int64_t kTtlMaxS = 9'000'000'000;
  const auto id = static_cast<std::int64_t>(prng_.chance(0.5) ? 1 : 1 + prng_.below(4));
  switch (prng_.below(8)) {
    case 0: {
      pb::LeaseRevokeRequest request;
      request.set_id(id);
      return request;
    }
    case 1:
    case 2: {
      pb::LeaseTimeToLiveRequest request;
      request.set_id(id);
      request.set_keys(prng_.chance(0.8));
      return request;
    }
    case 3:
      return pb::LeaseLeasesRequest();
    default:
      pb::LeaseGrantRequest request;
      request.set_id(id);
      request.set_ttl(prng_.chance(0.1) ? kTtlMaxS + static_cast<std::int64_t>(prng_.below(2)) : 36'000);
      return request;
  }
}

std::string RandomRequests::key() { return prng_.chance(0.01) ? "" : kKeys[prng_.below(std::size(kKeys))]; }

std::string RandomRequests::value() {
  switch (prng_.below(8)) {
    case 0:
      return "";
    case 1:
      return std::string(prng_.below(3000), static_cast<char>(prng_.below(256)));
    default:
      return std::to_string(prng_.below(5));  // so that compares and sorts by value find equal values
  }
}

std::string RandomRequests::range_end(const std::string& key) {
  switch (prng_.below(5)) {
    case 0:
      return kToTheEnd;
    case 1:
      return this->key();  // often before `key`: an empty range
    case 2: {              // the keys with this prefix
      std::string end = key;
      while (!end.empty() && end.back() == '\xff') end.pop_back();
      if (!end.empty()) end.back() = static_cast<char>(end.back() + 1);
      return end.empty() ? kToTheEnd : end;
    }
    default:
      return "";
  }
}

// A revision: mostly the newest; else one that is kept, compacted, or in the future.
std::int64_t RandomRequests::read_revision() {
  if (prng_.chance(0.7)) return prng_.chance(0.05) ? -1 : 0;
  const std::int64_t first = std::max<std::int64_t>(0, compacted_ - 2);
  return first + static_cast<std::int64_t>(prng_.below(revision_ - first + 2));
}

std::int64_t RandomRequests::bound_revision() {
  return prng_.chance(0.85) ? 0 : static_cast<std::int64_t>(prng_.below(revision_ + 2));
}

pb::RangeRequest RandomRequests::range() {
  pb::RangeRequest request;
  request.set_key(key());
  request.set_range_end(range_end(request.key()));
  if (prng_.chance(0.3)) request.set_limit(prng_.below(6));
  request.set_revision(read_revision());
  if (prng_.chance(0.4)) {
    request.set_sort_order(static_cast<pb::RangeRequest::SortOrder>(prng_.below(3)));
    request.set_sort_target(static_cast<pb::RangeRequest::SortTarget>(prng_.below(5)));
  }
  request.set_serializable(serializable_ && prng_.chance(0.3));
  request.set_keys_only(prng_.chance(0.1));
  request.set_count_only(prng_.chance(0.1));
  request.set_min_mod_revision(bound_revision());
  request.set_max_mod_revision(bound_revision());
  request.set_min_create_revision(bound_revision());
  request.set_max_create_revision(bound_revision());
  return request;
}

pb::PutRequest RandomRequests::put() {
  pb::PutRequest request;
  request.set_key(key());
  request.set_ignore_value(may_ignore_ && prng_.chance(0.05));
  if (!request.ignore_value() || prng_.chance(0.2)) request.set_value(value());
  request.set_ignore_lease(may_ignore_ && prng_.chance(0.05));
  if (prng_.chance(0.15)) request.set_lease(prng_.chance(0.7) ? 1 : 1 + prng_.below(5));  // 5 is never granted
  request.set_prev_kv(prng_.chance(0.3));
  return request;
}

pb::DeleteRangeRequest RandomRequests::delete_range(int depth) {
  pb::DeleteRangeRequest request;
  request.set_key(key());
  if (prng_.chance(0.5)) request.set_range_end(range_end(request.key()));
  if (depth > 0 && may_ignore_ && request.range_end() == kToTheEnd) request.clear_range_end();
  request.set_prev_kv(prng_.chance(0.4));
  return request;
}

pb::CompactionRequest RandomRequests::compaction() {
  pb::CompactionRequest request;
  const std::int64_t first = std::max<std::int64_t>(0, compacted_ - 1);
  request.set_revision(first + static_cast<std::int64_t>(prng_.below(revision_ - first + 2)));
  return request;
}

void RandomRequests::add_compare(pb::TxnRequest& txn) {
  pb::Compare& compare = *txn.add_compare();
  compare.set_result(static_cast<pb::Compare::CompareResult>(prng_.below(4)));
  compare.set_target(static_cast<pb::Compare::CompareTarget>(prng_.below(5)));
  compare.set_key(key());
  if (prng_.chance(0.2)) compare.set_range_end(range_end(compare.key()));
  // Sometimes the number or value of another target, or none.
  const int number_of = prng_.chance(0.05) ? static_cast<int>(prng_.below(6)) : compare.target();
  const auto revision = static_cast<std::int64_t>(prng_.below(revision_ + 2));
  if (number_of == pb::Compare::VERSION) compare.set_version(prng_.below(4));
  if (number_of == pb::Compare::CREATE) compare.set_create_revision(prng_.chance(0.5) ? 0 : revision);
  if (number_of == pb::Compare::MOD) compare.set_mod_revision(prng_.chance(0.3) ? 0 : revision);
  if (number_of == pb::Compare::VALUE) compare.set_value(value());
  if (number_of == pb::Compare::LEASE) compare.set_lease(prng_.below(3));
}

void RandomRequests::set_operation(pb::RequestOp& operation, int depth) {
  const double kind = prng_.unit();
  if (kind < 0.4) {
    *operation.mutable_request_range() = range();
  } else if (kind < 0.7) {
    *operation.mutable_request_put() = put();
  } else if (kind < 0.85 || depth >= 4) {
    *operation.mutable_request_delete_range() = delete_range(depth);
  } else if (kind < 0.995) {
    *operation.mutable_request_txn() = txn(depth + 1);
  }  // else: an operation of no kind
}

// In one transaction, etcd 3.4 does not notice that a delete of everything from a key on overlaps a put; and if that
// put has ignore_value or ignore_lease, it crashes. So no transaction has both.
pb::TxnRequest RandomRequests::whole_txn() {
  may_ignore_ = prng_.chance(0.5);
  pb::TxnRequest request = txn(1);
  may_ignore_ = true;
  return request;
}

pb::TxnRequest RandomRequests::txn(int depth) {
  pb::TxnRequest request;
  for (auto n = prng_.below(3); n > 0; --n) add_compare(request);
  if (prng_.chance(0.3)) {  // a transaction that only reads
    for (auto n = prng_.below(4); n > 0; --n) *request.add_success()->mutable_request_range() = range();
    for (auto n = prng_.below(3); n > 0; --n) *request.add_failure()->mutable_request_range() = range();
    return request;
  }
  for (auto n = prng_.below(4); n > 0; --n) set_operation(*request.add_success(), depth);
  for (auto n = prng_.below(4); n > 0; --n) set_operation(*request.add_failure(), depth);
  if (prng_.chance(0.01)) {
    while (request.success_size() < 129) *request.add_success()->mutable_request_range() = range();
  }
  return request;
}

}  // namespace ingot
