#include "tests/replication/store/churn_requests.h"

#include <algorithm>
#include <memory>

#include "replication/store/limits.h"
#include "tests/replication/store/helpers.h"

namespace ingot::kv {
namespace {

constexpr int kLeases = 3;
constexpr int kPutsMax = 110;  // of one transaction; with the rest fewer than kTxnOperationsMax

}  // namespace

std::string ChurnRequests::key() {
  return numbered_key(static_cast<int>(rng_.below(static_cast<std::uint64_t>(keys_))));
}

std::string ChurnRequests::value() {
  return std::string(rng_.below(rng_.chance(0.03) ? 20'000 : rng_.chance(0.3) ? 300 : 20), 'v');
}

// Some keys have a lease whenever they are put, if it exists then.
PutRequest ChurnRequests::put(int key) {
  PutRequest request = put_of(numbered_key(key), value());
  if (!rng_.chance(0.9)) request.lease = 1 + key % kLeases;
  return request;
}

// Grants are frequent: a transaction whose lease does not exist does nothing.
Request ChurnRequests::lease() {
  const auto id = 1 + static_cast<std::int64_t>(rng_.below(kLeases));
  if (rng_.chance(0.6)) return LeaseGrantRequest{id, 2};
  if (rng_.chance(0.2)) return LeaseRevokeRequest{id};
  if (rng_.chance(0.2)) return LeaseKeepAliveRequest{{id}};
  ++ticks_;
  return Tick{1 + ticks_ / 50, ticks_, static_cast<std::uint32_t>(rng_.below(kTickMaxMs + 1))};
}

// The check for duplicates does not look at such a delete, so puts of the same keys may stand beside it.
Operation ChurnRequests::delete_from_key_on() { return delete_of(key(), std::string(1, '\0')); }

// Puts in a nested transaction may be followed by another one's deletes of the same keys.
void ChurnRequests::add_nested(TxnRequest& txn) {
  auto puts = std::make_shared<TxnRequest>();
  auto deletes = std::make_shared<TxnRequest>();
  const std::string nested = "nested" + key();
  puts->success = {put_of(nested, value())};
  deletes->success = {delete_of(nested)};
  txn.success.emplace_back(puts);
  if (rng_.chance(0.7)) txn.success.emplace_back(deletes);
}

TxnRequest ChurnRequests::txn() {
  TxnRequest txn;
  const auto puts = static_cast<int>(rng_.below(rng_.chance(0.3) ? kPutsMax : 8));
  const auto first = static_cast<int>(rng_.below(static_cast<std::uint64_t>(keys_)));
  if (rng_.chance(0.4)) txn.success.push_back(delete_from_key_on());
  for (int i = 0; i < std::min(puts, keys_); ++i) {
    txn.success.emplace_back(put((first + i) % keys_));
    if (rng_.chance(0.04)) txn.success.push_back(delete_from_key_on());
  }
  if (rng_.chance(0.4)) txn.success.push_back(delete_from_key_on());
  if (rng_.chance(0.2)) add_nested(txn);
  return txn;
}

EventsRequest ChurnRequests::events(Revision newest, Revision compacted) {
  EventsRequest r;
  r.from.revision = std::max<Revision>(compacted, 0);
  if (rng_.chance(0.3)) {
    r.from.revision += static_cast<Revision>(rng_.below(static_cast<std::uint64_t>(newest - r.from.revision + 2)));
  }
  if (rng_.chance(0.3)) r.from.place = static_cast<std::uint32_t>(rng_.below(20));
  r.bytes_max = static_cast<std::uint32_t>(rng_.below(rng_.chance(0.5) ? 1000 : 100'000));
  r.prev_kv = rng_.chance(0.5);
  r.ranges = {{rng_.chance(0.5) ? std::string(1, '\0') : key(), std::string(1, '\0')}};
  return r;
}

Request ChurnRequests::next(Revision newest, Revision compacted) {
  if (rng_.chance(0.15)) return lease();
  const std::uint64_t kind = rng_.below(100);
  if (kind < 45) return txn();
  if (kind < 65) return put_of(key(), value());
  if (kind < 70) return delete_of(key());
  if (kind < 75) return delete_of(key(), key());
  if (kind < 88 && newest > compacted) {
    const auto kept = static_cast<Revision>(rng_.chance(0.5) ? 0 : rng_.below(20));
    return CompactRequest{std::max(compacted + 1, newest - kept)};
  }
  if (kind < 90) return AlarmRequest{AlarmRequest::Action::kDeactivate};
  if (kind < 95) return events(newest, compacted);
  if (kind < 97) return HashRequest{};
  return range_of(key());
}

}  // namespace ingot::kv
