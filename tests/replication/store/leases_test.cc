// Leases: grants and ends, keys that come and go with them, and agreed time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "replication/store/kv_store.h"
#include "replication/store/limits.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/text.h"

namespace ingot::kv {
namespace {

constexpr std::int64_t kWholeMs = 2000 + kLeaseGraceMs;  // that a lease of the least TTL lasts

// A store, and the ticks of a leader.
struct Timed {
  explicit Timed(Quota quota = Quota()) : store(quota) {}

  Code run(const Request& request) { return kv::run(store, request).code; }
  void pass(std::int64_t ms) {
    for (; ms > 0; ms -= kTickMaxMs) {
      REQUIRE(run(Tick{leadership, ++number, static_cast<std::uint32_t>(std::min<std::int64_t>(ms, kTickMaxMs))}) ==
              Code::kOk);
    }
  }
  bool has(std::int64_t id) { return time_to_live(id).ttl_s >= 0; }
  LeaseTimeToLiveResult time_to_live(std::int64_t id, bool keys = false) {
    return std::get<LeaseTimeToLiveResult>(ask(store, LeaseTimeToLiveRequest{id, keys}).body);
  }
  std::vector<std::int64_t> list() { return std::get<LeasesResult>(ask(store, LeasesRequest{}).body).ids; }

  KvStore store;
  std::uint64_t leadership = 1;
  std::uint64_t number = 0;
};

PutRequest put_with(std::string key, std::int64_t lease) {
  PutRequest request = put_of(std::move(key), "v");
  request.lease = lease;
  return request;
}

std::vector<Event> events_from(const KvStore& store, Revision revision) {
  EventsRequest request;
  request.from.revision = revision;
  request.bytes_max = kEventsBytesMax;
  request.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
  return std::get<EventsResult>(ask(store, request).body).events;
}

using Keys = std::vector<std::string>;

TEST_CASE("Grants are refused in etcd's order, and a short TTL is lengthened") {
  Timed timed;
  REQUIRE(timed.run(LeaseGrantRequest{0, kLeaseTtlMaxS + 1}) == Code::kLeaseNotFound);
  REQUIRE(timed.run(LeaseGrantRequest{5, kLeaseTtlMaxS + 1}) == Code::kLeaseTtlTooLarge);
  const Result granted = run(timed.store, LeaseGrantRequest{5, -3});
  REQUIRE(to_json(granted) == Json({{"revision", 1}, {"ID", 5}, {"TTL", kLeaseTtlMinS}}));
  REQUIRE(timed.run(LeaseGrantRequest{5, kLeaseTtlMaxS + 1}) == Code::kLeaseTtlTooLarge);
  REQUIRE(timed.run(LeaseGrantRequest{5, 10}) == Code::kLeaseExists);
  REQUIRE(timed.run(LeaseGrantRequest{6, kLeaseTtlMaxS}) == Code::kOk);
  REQUIRE(timed.list() == std::vector<std::int64_t>{5, 6});
  REQUIRE(timed.store.revision() == 1);
}

TEST_CASE("A put attaches its key, moves it to another lease, or detaches it; so does a delete") {
  Timed timed;
  REQUIRE(timed.run(put_with("a", 1)) == Code::kLeaseNotFound);
  timed.run(LeaseGrantRequest{1, 10});
  timed.run(LeaseGrantRequest{2, 10});
  for (const char* key : {"c", "a", "b"}) REQUIRE(timed.run(put_with(key, 1)) == Code::kOk);
  REQUIRE(timed.time_to_live(1, true).keys == Keys{"a", "b", "c"});
  REQUIRE(timed.time_to_live(1).keys.empty());
  timed.run(put_with("a", 2));
  timed.run(delete_of("b"));
  REQUIRE(timed.time_to_live(1, true).keys == Keys{"c"});
  REQUIRE(timed.time_to_live(2, true).keys == Keys{"a"});
  PutRequest keeps = put_of("a", "new");
  keeps.ignore_lease = true;
  REQUIRE(timed.run(keeps) == Code::kOk);
  REQUIRE(timed.time_to_live(2, true).keys == Keys{"a"});
  timed.run(put_of("a", "none"));
  REQUIRE(timed.time_to_live(2, true).keys.empty());
}

TEST_CASE("A transaction that is undone leaves keys with the leases that they had") {
  Timed timed{Quota(2000)};
  timed.run(LeaseGrantRequest{1, 10});
  timed.run(put_with("a", 1));
  TxnRequest txn;
  txn.success = {delete_of("a"), put_with("b", 1), put_of("c", std::string(2'000, 'v'))};
  REQUIRE(timed.run(txn) == Code::kNoSpace);
  REQUIRE(timed.time_to_live(1, true).keys == Keys{"a"});
  timed.run(AlarmRequest{AlarmRequest::Action::kDeactivate});
  txn.success = {put_with("b", 2)};
  REQUIRE(timed.run(txn) == Code::kLeaseNotFound);
}

TEST_CASE("The keys of a lease vanish in one revision, in their order") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 10});
  for (const char* key : {"b", "a"}) timed.run(put_with(key, 1));
  timed.run(put_of("c", "stays"));
  const Result revoked = run(timed.store, LeaseRevokeRequest{1});
  REQUIRE(revoked.code == Code::kOk);
  REQUIRE(revoked.revision == 5);
  const std::vector<Event> events = events_from(timed.store, 5);
  REQUIRE(events.size() == 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    REQUIRE(events[i].deleted);
    REQUIRE(events[i].kv.key == (i == 0 ? "a" : "b"));
    REQUIRE(events[i].kv.mod_revision == 5);
    REQUIRE(events[i].place == i);
  }
  REQUIRE(timed.run(LeaseRevokeRequest{1}) == Code::kLeaseNotFound);
  REQUIRE(timed.store.live_keys() == 1);
  timed.run(LeaseGrantRequest{1, 10});
  REQUIRE(run(timed.store, LeaseRevokeRequest{1}).revision == 5);  // without keys it makes no revision
}

TEST_CASE("A lease ends when its TTL and the grace have passed, and not before") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 2});
  timed.run(put_with("a", 1));
  timed.pass(kWholeMs - 1);
  REQUIRE(timed.has(1));
  REQUIRE(timed.time_to_live(1).ttl_s == 0);
  timed.pass(1);
  REQUIRE_FALSE(timed.has(1));
  REQUIRE(timed.store.live_keys() == 0);
  REQUIRE(timed.store.leases_ended() == 1);
  REQUIRE_FALSE(timed.store.clock().runs);
}

TEST_CASE("A keep-alive gives a lease its whole time; the answer names the TTL, or 0") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 2});
  timed.run(LeaseGrantRequest{2, 2});
  timed.pass(kWholeMs - 1);
  const Result alive = run(timed.store, LeaseKeepAliveRequest{{2, 3, 2}});
  REQUIRE(std::get<LeaseKeepAliveResult>(alive.body).ttls_s == std::vector<std::int64_t>{2, 0, 2});
  timed.pass(1);
  REQUIRE(timed.list() == std::vector<std::int64_t>{2});
  timed.pass(kWholeMs - 2);
  REQUIRE(timed.has(2));
  timed.pass(1);
  REQUIRE_FALSE(timed.has(2));
}

TEST_CASE("When another leadership ticks for the first time, every lease has its whole time again") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 2});
  timed.run(LeaseGrantRequest{2, 10});
  timed.pass(kWholeMs - 1);
  timed.leadership = 2;
  REQUIRE(timed.time_to_live(2).ttl_s == 7);
  timed.run(Tick{2, ++timed.number, 0});
  REQUIRE(timed.time_to_live(2).ttl_s == 9);
  timed.pass(kWholeMs - 1);
  REQUIRE(timed.has(1));
  timed.pass(1);
  REQUIRE(timed.list() == std::vector<std::int64_t>{2});
}

TEST_CASE("A tick that is not newer than the last one is void") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 2});
  timed.pass(kWholeMs - 1);
  const std::uint64_t digest = timed.store.digest();
  for (const std::uint64_t number : {timed.number, std::uint64_t{1}}) timed.run(Tick{7, number, 500});
  REQUIRE(timed.store.digest() == digest);
  REQUIRE(timed.has(1));
  REQUIRE(timed.run(Tick{1, timed.number + 1, kTickMaxMs + 1}) == Code::kMalformed);
  REQUIRE(ask(timed.store, Tick{1, timed.number + 1, 1}).code == Code::kMalformed);
}

TEST_CASE("Many leases that end at once end by and by, each with all its keys") {
  constexpr int kMany = 3 * kTickEndedLeases;
  Timed timed;
  timed.run(LeaseGrantRequest{kMany + 1, 2});
  for (std::size_t i = 0; i < kTickEndedKeys + 10; ++i) {
    timed.run(put_with(numbered_key(static_cast<int>(i)), kMany + 1));
  }
  for (int id = 1; id <= kMany; ++id) timed.run(LeaseGrantRequest{id, 2});
  timed.pass(kWholeMs);
  REQUIRE(timed.store.leases() == kMany + 1 - kTickEndedLeases);
  REQUIRE(timed.store.clock().behind);
  int ticks = 1;
  for (; timed.store.clock().behind; ++ticks) timed.run(Tick{1, ++timed.number, 0});
  REQUIRE(ticks == 4);  // the last one ends the lease with more keys than a tick ends of several
  REQUIRE(timed.store.leases() == 0);
  REQUIRE(timed.store.live_keys() == 0);
}

TEST_CASE("Leases that another leadership has restored are looked at by and by") {
  Timed timed;
  for (int id = 1; id <= 2 * kTickLooks; ++id) timed.run(LeaseGrantRequest{id, 2});
  timed.pass(kWholeMs - 1);
  timed.run(Tick{2, ++timed.number, 1});
  REQUIRE(timed.store.clock().behind);
  timed.run(Tick{2, ++timed.number, 0});
  REQUIRE_FALSE(timed.store.clock().behind);
  REQUIRE(timed.store.leases() == 2 * kTickLooks);
  REQUIRE(timed.store.digest() == timed.store.compute_digest());
}

// A delete needs room for a tombstone, and a full store may have none; a lease must end in any case.
TEST_CASE("A lease ends in a store without room") {
  Timed timed{Quota(20'000)};
  timed.run(LeaseGrantRequest{1, 2});
  int keys = 0;
  while (timed.run(put_with(numbered_key(keys), 1)) == Code::kOk) ++keys;
  REQUIRE(timed.store.no_space());
  const std::int64_t counted = timed.store.counted().sum();
  timed.pass(kWholeMs);
  REQUIRE(timed.store.live_keys() == 0);
  REQUIRE(timed.store.counted().sum() < counted);
  REQUIRE(timed.run(LeaseGrantRequest{2, 2}) == Code::kNoSpace);  // the alarm stands
}

TEST_CASE("A grant that exceeds the quota raises the alarm") {
  Timed timed{Quota(kLeaseCountedBytes)};
  REQUIRE(timed.run(LeaseGrantRequest{1, 2}) == Code::kOk);
  REQUIRE(timed.run(LeaseGrantRequest{2, 2}) == Code::kNoSpace);
  REQUIRE(timed.store.no_space());
  REQUIRE(timed.store.leases() == 1);
}

TEST_CASE("There are no more leases than the bound") {
  Timed timed;
  for (std::size_t id = 1; id <= kLeasesMax; ++id) {
    if (timed.run(LeaseGrantRequest{static_cast<std::int64_t>(id), 60}) != Code::kOk) FAIL(id);
  }
  REQUIRE(timed.run(LeaseGrantRequest{-1, 60}) == Code::kTooManyLeases);
  REQUIRE(timed.list().size() == kLeasesMax);
  timed.run(LeaseRevokeRequest{1});
  REQUIRE(timed.run(LeaseGrantRequest{-1, 60}) == Code::kOk);
}

TEST_CASE("The keys of a lease that exceed an answer are refused; without them it is answered") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 60});
  for (const char* key : {"a", "b", "c"}) timed.run(put_with(key + std::string(kResultBytesMax / 3, 'k'), 1));
  REQUIRE(ask(timed.store, LeaseTimeToLiveRequest{1, true}).code == Code::kResultTooLarge);
  REQUIRE(timed.has(1));
}

TEST_CASE("A snapshot whose keys have leases that it does not have is refused") {
  Timed timed;
  timed.run(LeaseGrantRequest{1, 60});
  timed.run(put_with("a", 1));
  const std::string whole = timed.store.save();
  KvStore loaded;
  REQUIRE(loaded.load(whole).ok());
  REQUIRE(loaded.digest() == timed.store.digest());
  std::string without = whole.substr(0, whole.size() - 4 * 8);  // the number of leases, and the one
  without.append(8, '\0');
  REQUIRE_FALSE(loaded.load(without).ok());
}

}  // namespace
}  // namespace ingot::kv
