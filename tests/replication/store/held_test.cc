// What a store counts is what is there: the bytes that it counts, those that it says it holds, those that its snapshot
// holds, and the heap's own figure stay together at every step of runs with compactions, a quota and loaded snapshots.
#include <malloc.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "core/prng.h"
#include "core/wire.h"
#include "replication/store/limits.h"
#include "tests/replication/store/churn_requests.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INGOT_OWN_HEAP 1  // the sanitizer's, of which the C library knows nothing
#else
#define INGOT_OWN_HEAP 0
#endif

namespace ingot::kv {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

// The heap has at most so many times what is held, and so much besides: tables of the index have room, and so have
// queues.
constexpr std::int64_t kHeapFactor = 2;
constexpr std::int64_t kHeapBytesBesides = 256 * 1024;

std::int64_t heap_bytes() {
  const auto figures = ::mallinfo2();
  return static_cast<std::int64_t>(figures.uordblks + figures.hblkhd);
}

// By the rule of replication/store/quota.h, of all versions that a snapshot holds.
std::int64_t counted_in(const std::string& snapshot) {
  constexpr std::size_t kHeadBytes = 4 * 8 + 1;  // magic, two revisions, alarm, digest
  WireReader in(std::string_view(snapshot).substr(kHeadBytes));
  std::int64_t sum = 0;
  for (std::uint64_t keys = in.u64(); keys > 0; --keys) {
    const std::size_t key_bytes = in.bytes().size();
    bool exists = false;
    std::int64_t lease = 0;
    for (std::uint32_t versions = in.u32(); versions > 0; --versions) {
      in.i64();  // mod_revision
      in.u32();  // sub
      in.i64();  // create_revision
      exists = in.i64() > 0;
      lease = in.i64();
      sum += counted_version(in.bytes().size()) + (exists ? 0 : counted_key(key_bytes));
    }
    sum += exists ? counted_key(key_bytes) + counted_attachment(lease) : 0;
  }
  in.raw(4 * 8);  // the leases' clock
  for (std::uint64_t leases = in.u64(); leases > 0; --leases) {
    in.raw(3 * 8);
    sum += kLeaseCountedBytes;
  }
  REQUIRE(in.ok());
  return sum;
}

// Of the deletes of the compacted revision, which are kept for watches, and do not count.
std::int64_t kept_deletes(const KvStore& store) {
  EventsRequest request;
  request.from = {store.compact_revision(), 0};
  request.bytes_max = kEventsBytesMax;
  request.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
  std::int64_t sum = 0;
  while (request.from.revision >= 0 && request.from.revision == store.compact_revision()) {
    const EventsResult found = std::get<EventsResult>(ask(store, request).body);
    for (const Event& event : found.events) {
      if (!event.deleted || event.kv.mod_revision != store.compact_revision()) continue;
      sum += counted_tombstone(event.kv.key.size());
    }
    request.from = found.next;
  }
  return sum;
}

// Looks at one store after each command.
class Oracle {
 public:
  explicit Oracle(std::int64_t heap_before) : heap_before_(heap_before) {}

  void look(const KvStore& store) {
    INFO("counted " << store.counted().sum() << ", held " << store.held());
    const std::int64_t kept = kept_deletes(store);
    REQUIRE(store.counted().sum() <= store.quota().deletes_max());
    most_ = std::max(most_, store.counted().sum() + kept);
    REQUIRE(store.held() >= store.counted().sum() + kept);
    REQUIRE(store.held() <= most_);
    REQUIRE(counted_in(store.save()) == store.held());
    look_at_heap(store);
  }

 private:
  void look_at_heap(const KvStore& store) const {
    if (INGOT_OWN_HEAP) return;
    const std::int64_t heap = heap_bytes() - heap_before_;
    INFO("heap " << heap);
    REQUIRE(heap <= kHeapFactor * store.held() + kHeapBytesBesides);
    REQUIRE(heap >= store.held() / kHeapFactor);
  }

  const std::int64_t heap_before_;
  std::int64_t most_ = 0;  // that counted at any time, kept deletes included
};

TEST_CASE("What is counted, what is held and what the heap has stay together") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    INFO("seed " << seed);
    ChurnRequests random(seed);
    Prng rng(seed);
    const Quota quota(static_cast<std::int64_t>(kMiB / 4 + rng.below(4 * kMiB)));
    Oracle oracle(heap_bytes());
    auto store = std::make_unique<KvStore>(quota);
    for (int i = 0; i < 500; ++i) {
      const Request request = random.next(store->revision(), store->compact_revision());
      INFO("command " << i << " " << to_json(request).dump().substr(0, 200));
      run(*store, request);
      oracle.look(*store);
      if (!rng.chance(0.02)) continue;
      auto loaded = std::make_unique<KvStore>(quota);
      REQUIRE(loaded->load(store->save()).ok());
      REQUIRE(loaded->held() == store->held());
      store = std::move(loaded);
      oracle.look(*store);
    }
  }
}

// A command superseded 254 versions and freed 128 of those that a compaction had released, so the rest of each waited
// for ever. It did not count, so the quota did not bound it.
TEST_CASE("transactions that supersede more than a step frees do not outgrow the quota") {
  KvStore store(Quota(4 * kMiB));
  Oracle oracle(heap_bytes());
  TxnRequest txn;
  const std::string value(100, 'v');
  for (int i = 0; i < kTxnOperationsMax - 1; ++i) txn.success.emplace_back(put_of(numbered_key(i), value));
  txn.success.emplace_back(delete_of("k", std::string(1, '\0')));
  for (int i = 0; i < 300; ++i) {
    REQUIRE(run(store, txn).code == Code::kOk);
    oracle.look(store);
    if (i % 20 == 19) run(store, CompactRequest{store.revision() - 10});
    oracle.look(store);
  }
  REQUIRE(store.held() <= 4 * kMiB);
}

// As many versions as the step has are few bytes if they are small.
TEST_CASE("large values do not wait behind small ones beyond the quota") {
  constexpr int kSmall = 15'000;
  KvStore store(Quota(4 * kMiB));
  for (int i = 0; i < kSmall; ++i) REQUIRE(run(store, put_of("small", "")).code == Code::kOk);
  run(store, CompactRequest{store.revision()});
  for (int i = 0; i < 150; ++i) {
    REQUIRE(run(store, put_of("large", std::string(100'000, 'v'))).code == Code::kOk);
    if (i % 10 == 9) run(store, CompactRequest{store.revision()});
    REQUIRE(store.held() <= 4 * kMiB);
  }
}

// The tables of the index kept the room of the most keys that there ever were: 2.4 MB of 200,000. Of the queues the
// room for pointers to their blocks stays, a sixtieth of what was in them.
TEST_CASE("a store that had many keys and has few is small") {
  constexpr int kKeys = 200'000;
  const std::int64_t heap_before = heap_bytes();
  KvStore store;
  for (int i = 0; i < kKeys; ++i) run(store, put_of(numbered_key(i), ""));
  run(store, delete_of("k", "l"));
  run(store, put_of("a", ""));
  run(store, CompactRequest{store.revision()});
  for (int i = 0; store.versions() > 1 && i < 2 * kKeys; ++i) run(store, range_of("a"));
  REQUIRE(store.versions() == 1);
  const std::int64_t heap = heap_bytes() - heap_before;
  INFO("heap " << heap);
  REQUIRE((INGOT_OWN_HEAP || heap < kMiB));
}

}  // namespace
}  // namespace ingot::kv
