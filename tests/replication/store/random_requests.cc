#include "tests/replication/store/random_requests.h"

#include <memory>

namespace ingot::kv {

// Ten keys: the most for which Go's sort keeps the order of equal elements, on which etcd's order of ties depends.
std::string RandomRequests::key() {
  static constexpr const char* kKeys[] = {"a", "aa", "ab", "b", "ba", "c", "d", "da", "e", "f"};
  return one_in(200) ? "" : kKeys[rng_.below(std::size(kKeys))];
}

std::string RandomRequests::range_end() {
  switch (rng_.below(6)) {
    case 0:
    case 1:
    case 2:
      return "";
    case 3:
      return std::string(1, '\0');
    default:
      return std::string(1, static_cast<char>('a' + rng_.below(8)));
  }
}

std::string RandomRequests::value() { return one_in(6) ? "" : std::string(1, static_cast<char>('0' + rng_.below(4))); }

Revision RandomRequests::revision() {
  if (one_in(30)) return -static_cast<Revision>(rng_.below(3));
  if (one_in(30)) return newest_ + 1 + static_cast<Revision>(rng_.below(2));
  const auto back = static_cast<Revision>(rng_.below(one_in(4) ? 100 : 10));
  return newest_ > back ? newest_ - back : 1;
}

RangeRequest RandomRequests::range() {
  RangeRequest r;
  r.key = key();
  r.range_end = range_end();
  if (one_in(3)) r.limit = static_cast<std::int64_t>(rng_.below(6)) - 1;
  if (one_in(3)) r.revision = revision();
  if (one_in(3)) r.sort_order = static_cast<SortOrder>(rng_.below(3));
  if (one_in(3)) r.sort_target = static_cast<SortTarget>(rng_.below(5));
  r.keys_only = one_in(8);
  r.count_only = one_in(10);
  if (one_in(8)) r.min_mod_revision = revision();
  if (one_in(8)) r.max_mod_revision = revision();
  if (one_in(8)) r.min_create_revision = revision();
  if (one_in(8)) r.max_create_revision = revision();
  return r;
}

PutRequest RandomRequests::put() {
  PutRequest r;
  r.key = key();
  r.value = value();
  r.prev_kv = one_in(4);
  if (one_in(12)) {
    r.ignore_value = true;
    if (!one_in(6)) r.value.clear();
  }
  r.ignore_lease = one_in(16);
  if (one_in(leases_ ? 3 : 60)) r.lease = lease_id();
  return r;
}

DeleteRangeRequest RandomRequests::remove() {
  DeleteRangeRequest r;
  r.key = key();
  r.range_end = range_end();
  r.prev_kv = one_in(3);
  return r;
}

Compare RandomRequests::compare() {
  Compare c;
  c.result = static_cast<CompareResult>(rng_.below(4));
  c.target = static_cast<CompareTarget>(rng_.below(5));
  c.key = key();
  c.range_end = one_in(3) ? range_end() : "";
  if (c.target == CompareTarget::kValue) {
    c.value = value();
  } else if (c.target == CompareTarget::kVersion) {
    c.number = static_cast<std::int64_t>(rng_.below(4));
  } else {
    c.number = one_in(2) ? 0 : revision();
  }
  return c;
}

// etcd 3.4 does not count a put after an open-ended delete ("\0") as a duplicate, but crashes if that put has
// ignore_value. So no transaction here has both.
std::vector<Operation> RandomRequests::operations(int depth) {
  std::vector<Operation> operations;
  for (std::uint64_t left = rng_.below(one_in(40) ? 12 : 4); left > 0; --left) {
    const std::uint64_t kind = rng_.below(depth > 0 ? 8 : 7);
    if (kind < 3) {
      PutRequest r = put();
      r.ignore_value = r.ignore_lease = false;
      operations.emplace_back(std::move(r));
    } else if (kind < 5) {
      RangeRequest r = range();
      if (!one_in(8)) r.revision = 0;
      operations.emplace_back(std::move(r));
    } else if (kind < 7) {
      operations.emplace_back(remove());
    } else {
      operations.emplace_back(std::make_shared<TxnRequest>(txn(depth - 1)));
    }
  }
  return operations;
}

TxnRequest RandomRequests::txn(int depth) {
  TxnRequest r;
  for (std::uint64_t left = rng_.below(3); left > 0; --left) r.compare.push_back(compare());
  r.success = operations(depth);
  r.failure = operations(depth);
  if (one_in(6)) {  // puts that need an existing key, and deletes that the check for duplicates handles
    PutRequest needs;
    needs.key = key();
    needs.ignore_value = one_in(2);
    needs.ignore_lease = !needs.ignore_value;
    if (one_in(10)) needs.lease = lease_id();
    r.success = {needs, range()};
    if (!one_in(4)) std::get<RangeRequest>(r.success[1]).revision = 0;
  }
  if (one_in(100)) {
    RangeRequest a;
    a.key = "a";
    r.failure.insert(r.failure.end(), 126 + rng_.below(6), Operation(a));
  }
  return r;
}

Request RandomRequests::next(Revision newest) {
  newest_ = newest;
  const std::uint64_t kind = rng_.below(100);
  if (kind < 35) return put();
  if (kind < 55) return range();
  if (kind < 65) return remove();
  if (kind < 98) return txn(3);
  return CompactRequest{revision()};
}

// Sometimes with ranges that overlap, which are refused.
EventsRequest RandomRequests::events() {
  EventsRequest r;
  r.from.revision = revision();
  r.from.place = static_cast<std::uint32_t>(one_in(3) ? rng_.below(4) : 0);
  if (one_in(4)) r.at_least = revision();
  if (one_in(4)) r.known_compacted = revision();
  r.bytes_max = static_cast<std::uint32_t>(rng_.below(one_in(2) ? 200 : 2000));
  r.prev_kv = one_in(2);
  if (one_in(3)) {
    r.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
    return r;
  }
  for (char c = 'a'; c < 'g'; c = static_cast<char>(c + 1 + rng_.below(2))) {
    if (one_in(3)) continue;
    const std::string begin(1, c);
    const std::string ends[] = {"", begin + "a", std::string(1, static_cast<char>(c + 1)), std::string(1, '\0')};
    r.ranges.push_back({begin, ends[rng_.below(one_in(40) ? 4 : 3)]});
  }
  if (one_in(20)) r.ranges.push_back({key(), range_end()});
  return r;
}

// Few, so that they are granted, used and ended again and again.
std::int64_t RandomRequests::lease_id() {
  static constexpr std::int64_t kIds[] = {-1, 1, 2, 7, std::int64_t{1} << 62};
  return kIds[rng_.below(std::size(kIds))];
}

// Ticks are mostly new ones of one leadership.
Request RandomRequests::lease() {
  leases_ = true;
  const std::int64_t id = one_in(40) ? 0 : lease_id();
  switch (rng_.below(10)) {
    case 0:
    case 1:
    case 2:
      return LeaseGrantRequest{id, one_in(20) ? 9'000'000'001 : static_cast<std::int64_t>(rng_.below(8)) - 1};
    case 3:
      return LeaseRevokeRequest{id};
    case 4: {
      LeaseKeepAliveRequest r;
      for (std::uint64_t left = rng_.below(4); left > 0; --left) r.ids.push_back(lease_id());
      return r;
    }
    case 5:
      return LeaseTimeToLiveRequest{id, one_in(2)};
    case 6:
      return LeasesRequest{};
    default:
      if (one_in(10)) ++leadership_;
      if (!one_in(20)) ++ticks_;
      return Tick{leadership_, ticks_, static_cast<std::uint32_t>(one_in(40) ? 501 : rng_.below(501))};
  }
}

Request RandomRequests::next_or_alarm(Revision newest) {
  newest_ = newest;
  if (one_in(20)) return events();
  if (one_in(4)) return lease();
  if (!one_in(40)) return next(newest);
  return AlarmRequest{static_cast<AlarmRequest::Action>(rng_.below(3))};
}

}  // namespace ingot::kv
