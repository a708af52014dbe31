// Ingot's additions to etcd's semantics: bounds, pages, compaction in steps, hashes.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "replication/store/kv_store.h"
#include "replication/store/limits.h"
#include "replication/store/sort.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

void require_code(const Result& result, Code code) {
  INFO(to_json(result));
  REQUIRE(result.code == code);
}

TEST_CASE("A query that would write is refused, and so are bytes that are not a request") {
  KvStore store;
  run(store, put_of("a", "1"));
  TxnRequest txn;
  txn.failure.emplace_back(std::make_shared<TxnRequest>());
  require_code(ask(store, txn), Code::kOk);
  std::get<std::shared_ptr<TxnRequest>>(txn.failure[0])->failure.emplace_back(delete_of("a"));
  for (const Request& request : {Request(put_of("a", "2")), Request(delete_of("a")), Request(txn),
                                 Request(CompactRequest{1})}) {
    require_code(ask(store, request), Code::kMalformed);
  }
  require_code(*decode_result(store.apply(Slot(0), "nonsense")), Code::kMalformed);
  require_code(*decode_result(store.query("")), Code::kMalformed);
  REQUIRE(ask(store, range_of("a")).revision == 2);
}

TEST_CASE("What is expected changes nothing, whatever its bytes are") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng rng(seed);
  KvStore store, same;
  for (int i = 0; i < 300; ++i) {
    std::string command = encode(Request(put_of("key" + std::to_string(rng.below(20)), std::string(rng.below(40), 'v'))));
    const std::string whole = command;
    store.expect(command);
    store.expect(std::string_view(command).substr(0, rng.below(command.size())));
    command[rng.below(command.size())] = static_cast<char>(rng.below(256));
    store.expect(command);
    CHECK(store.digest() == same.digest());
    REQUIRE(store.apply(Slot(0), whole) == same.apply(Slot(0), whole));
  }
  CHECK(store.digest() == same.digest());
  CHECK(store.compute_digest() == store.digest());
}

TEST_CASE("Transactions nest to the limit and no deeper") {
  const auto nested = [](int depth) {
    TxnRequest txn;
    for (int i = 1; i < depth; ++i) {
      TxnRequest outer;
      outer.success.emplace_back(std::make_shared<TxnRequest>(std::move(txn)));
      txn = std::move(outer);
    }
    return txn;
  };
  REQUIRE(validate(nested(kTxnDepthMax)) == Code::kOk);
  REQUIRE(validate(nested(kTxnDepthMax + 1)) == Code::kTooDeep);
  REQUIRE(decode_request(encode(nested(kTxnDepthMax))).ok());
  REQUIRE_FALSE(decode_request(encode(nested(kTxnDepthMax + 1))).ok());
  KvStore store;
  require_code(run(store, nested(kTxnDepthMax)), Code::kOk);
}

// Reads page by page as the front end does, with writes in between, and puts the answer together.
RangeResult by_pages(KvStore& store, RangeRequest request, Prng& rng, int& pages) {
  RangeResult joined;
  while (true) {
    request.step_entries = 1 + static_cast<std::uint32_t>(rng.below(40));
    const RangeResult page = std::get<RangeResult>(ask(store, request).body);
    ++pages;
    joined.count += page.count;
    joined.more = joined.more || page.more;
    joined.kvs.insert(joined.kvs.end(), page.kvs.begin(), page.kvs.end());
    if (taken_by_key(request) > 0) request.taken += static_cast<std::int64_t>(page.kvs.size());
    if (page.next_key.empty()) break;
    request.key = page.next_key;
    run(store, put_of(numbered_key(static_cast<int>(rng.below(300))), "between pages"));
    if (rng.below(4) == 0) run(store, delete_of(numbered_key(static_cast<int>(rng.below(300)))));
  }
  if (in_key_order(request)) return joined;
  const bool descend = request.sort_order == SortOrder::kDescend;
  std::stable_sort(joined.kvs.begin(), joined.kvs.end(), [&](const KeyValue& a, const KeyValue& b) {
    const int order = compare_by(request.sort_target, a, b);
    return descend ? order > 0 : order < 0;
  });
  if (request.limit > 0 && joined.kvs.size() > static_cast<std::size_t>(request.limit)) {
    joined.kvs.erase(joined.kvs.begin() + request.limit, joined.kvs.end());
    joined.more = true;
  }
  return joined;
}

TEST_CASE("Pages join to the whole answer, whatever the order, filter and limit") {
  KvStore store;
  Prng rng(testing::drawn_seed());
  for (int i = 0; i < 600; ++i) {
    const std::string key = numbered_key(static_cast<int>(rng.below(300)));
    if (rng.below(4) == 0) {
      run(store, delete_of(key));
    } else {
      run(store, put_of(key, std::string(1 + rng.below(3), static_cast<char>('a' + rng.below(3)))));
    }
  }
  const Revision then = store.revision();
  int pages = 0;
  for (int i = 0; i < 300; ++i) {
    RangeRequest whole = everything();
    whole.revision = then - static_cast<Revision>(rng.below(100));
    whole.sort_order = static_cast<SortOrder>(rng.below(3));
    whole.sort_target = static_cast<SortTarget>(rng.below(5));
    whole.limit = rng.below(2) == 0 ? 0 : static_cast<std::int64_t>(rng.below(300));
    whole.keys_only = rng.below(4) == 0 && whole.sort_target != SortTarget::kValue;
    whole.count_only = rng.below(8) == 0;
    if (rng.below(3) == 0) whole.min_mod_revision = static_cast<Revision>(rng.below(600));
    const RangeResult expected = std::get<RangeResult>(ask(store, whole).body);
    REQUIRE(expected.next_key.empty());
    const RangeResult joined = by_pages(store, whole, rng, pages);
    REQUIRE(joined.count == expected.count);
    REQUIRE(joined.more == expected.more);
    REQUIRE(joined.kvs == expected.kvs);
  }
  REQUIRE(pages > 1000);
}

TEST_CASE("A page ends with the bytes that one answer holds, and looks at no more keys than it may") {
  KvStore store;
  const std::string value(20'000, 'v');
  for (int i = 0; i < 300; ++i) run(store, put_of(numbered_key(i), value));
  RangeRequest page = everything();
  page.step_entries = kStepEntriesMax;
  const RangeResult large = std::get<RangeResult>(ask(store, page).body);
  REQUIRE(large.kvs.size() * value.size() >= kPageBytesMax);
  REQUIRE((large.kvs.size() - 1) * value.size() < kPageBytesMax);
  REQUIRE(large.next_key == numbered_key(static_cast<int>(large.kvs.size())));

  // Keys that exist no more, and those that a filter or the limit leaves out, are looked at, too.
  for (int i = 0; i < 300; ++i) run(store, delete_of(numbered_key(i)));
  page.step_entries = 100;
  const RangeResult none = std::get<RangeResult>(ask(store, page).body);
  REQUIRE(none.count == 0);
  REQUIRE(none.next_key == numbered_key(100));
}

TEST_CASE("A page within a transaction, a long one, or a part of a limit without a page, is refused") {
  KvStore store;
  RangeRequest page = range_of("a");
  page.step_entries = 10;
  TxnRequest txn;
  txn.success.emplace_back(page);
  require_code(ask(store, txn), Code::kMalformed);
  page.step_entries = 0;
  page.taken = 1;
  require_code(ask(store, page), Code::kMalformed);
  page.step_entries = 10;
  page.taken = -1;
  require_code(ask(store, page), Code::kMalformed);
  page.taken = 0;
  page.step_entries = kStepEntriesMax + 1;
  require_code(ask(store, page), Code::kMalformed);
}

TEST_CASE("A hash is the sum of its parts, wherever these end") {
  KvStore store;
  Prng rng(testing::drawn_seed());
  for (int i = 0; i < 400; ++i) run(store, put_of(numbered_key(static_cast<int>(rng.below(40))), std::to_string(i)));
  for (int i = 0; i < 300; ++i) run(store, put_of("many versions", std::string(rng.below(2'000), 'v')));
  for (int i = 0; i < 10; ++i) run(store, delete_of(numbered_key(i)));
  for (const Revision compacted : {Revision{0}, Revision{200}, Revision{500}}) {
    if (compacted > 0) run(store, CompactRequest{compacted});
    for (int i = 0; i < 20; ++i) {
      HashRequest request{.revision = store.revision() - static_cast<Revision>(rng.below(150))};
      const auto whole = std::get<HashResult>(ask(store, request).body);
      std::uint64_t sum = 0;
      int parts = 0;
      do {
        request.step_entries = 1 + static_cast<std::uint32_t>(rng.below(30));
        const auto part = std::get<HashResult>(ask(store, request).body);
        sum += part.sum;
        request.from = part.next_from;
        request.below = part.next_below;
        ++parts;
        run(store, put_of(numbered_key(static_cast<int>(rng.below(40))), "between parts"));
      } while (!request.from.empty());
      REQUIRE(sum == whole.sum);
      REQUIRE(parts > 5);
    }
  }
  require_code(ask(store, HashRequest{.step_entries = kStepEntriesMax + 1}), Code::kMalformed);
  require_code(ask(store, HashRequest{.from = "a"}), Code::kMalformed);
}

// Four keys whose values together exceed the limit of one answer.
KvStore store_of_large_values() {
  KvStore store;
  for (int i = 0; i < 4; ++i) run(store, put_of(numbered_key(i), std::string(kResultBytesMax / 4, 'v')));
  return store;
}

TEST_CASE("An answer over the limit is refused, and whatever led to it is undone") {
  KvStore store = store_of_large_values();
  const std::string before = store.save();
  require_code(ask(store, everything()), Code::kResultTooLarge);

  DeleteRangeRequest remove = delete_of("k", "l");
  remove.prev_kv = true;
  require_code(run(store, remove), Code::kResultTooLarge);
  REQUIRE(store.save() == before);

  TxnRequest txn;
  PutRequest put = put_of(numbered_key(0), "small");
  put.prev_kv = true;
  txn.success = {put, put_of("new", "key"), delete_of(numbered_key(1)), everything()};
  require_code(run(store, txn), Code::kOk);  // the rest fits
  store = store_of_large_values();
  txn.success.push_back(everything());  // but not twice
  require_code(run(store, txn), Code::kResultTooLarge);
  REQUIRE(store.save() == before);
  REQUIRE(store.digest() == store.compute_digest());
  REQUIRE(store.live_keys() == 4);

  remove.prev_kv = false;
  REQUIRE(std::get<DeleteRangeResult>(run(store, remove).body).deleted == 4);
}

TEST_CASE("Results stay below the limit even if they are all overhead") {
  // The maximum of two levels: 64 transactions of 64 empty ones each.
  TxnRequest leaf;
  TxnRequest txn;
  auto middle = std::make_shared<TxnRequest>();
  for (int i = 0; i < 64; ++i) middle->success.emplace_back(std::make_shared<TxnRequest>(leaf));
  for (int i = 0; i < 64; ++i) txn.success.emplace_back(middle);
  KvStore store;
  const std::string result = store.query(encode(Request(txn)));
  require_code(*decode_result(result), Code::kOk);
  REQUIRE(result.size() <= kResultBytesMax);
}

TEST_CASE("A put that needs a key which the transaction itself deleted fails, and all is undone") {
  KvStore store;
  run(store, put_of("a", "1"));
  const std::string before = store.save();
  PutRequest needs = put_of("a", "");
  needs.ignore_value = true;
  TxnRequest txn;
  txn.success = {put_of("0", "0"), delete_of("a", std::string(1, '\0')), needs};  // no duplicate by etcd 3.4's check
  require_code(run(store, txn), Code::kKeyNotFound);
  REQUIRE(store.save() == before);
}

TEST_CASE("Compaction frees a bounded number of versions per command, and all of them in the end") {
  KvStore store;
  const int versions = 10 * kCompactionStepVersions;
  for (int i = 0; i < versions; ++i) run(store, put_of(numbered_key(i % 7), std::string(10, 'v')));
  run(store, delete_of(numbered_key(0)));
  REQUIRE(store.versions() == versions + 1);
  run(store, CompactRequest{store.revision()});
  REQUIRE(store.versions() == versions + 1 - kCompactionStepVersions);
  for (std::int64_t held = store.versions(); held > 7; held = store.versions()) {
    run(store, range_of("a"));
    REQUIRE(store.versions() < held);
    REQUIRE(store.versions() >= held - kCompactionStepVersions);
    REQUIRE(store.digest() == store.compute_digest());
  }
  run(store, range_of("a"));
  REQUIRE(store.versions() == 7);  // a watch from the compacted revision is told of its delete
  run(store, delete_of(numbered_key(1)));
  run(store, CompactRequest{store.revision() - 1});
  run(store, put_of(numbered_key(1), std::string(10, 'v')));
  run(store, CompactRequest{store.revision()});
  run(store, range_of("a"));
  REQUIRE(store.versions() == 6);
  REQUIRE(store.bytes() == 6 * static_cast<std::int64_t>(numbered_key(0).size() + 10));
  REQUIRE(store.live_keys() == 6);
}

TEST_CASE("A hash tells states apart, does not see what waits to be freed, and is refused where etcd refuses it") {
  KvStore one, other;
  for (int i = 0; i < 1000; ++i) {
    run(one, put_of(numbered_key(i % 10), std::to_string(i)));
    run(other, put_of(numbered_key(i % 10), std::to_string(i)));
  }
  const auto hash = [](const KvStore& store, Revision revision) {
    return std::get<HashResult>(ask(store, HashRequest{.revision = revision}).body).sum;
  };
  REQUIRE(hash(one, 0) == hash(other, 0));
  REQUIRE(hash(one, 500) == hash(other, 500));
  REQUIRE(hash(one, 500) != hash(other, 501));
  REQUIRE(std::get<HashResult>(ask(one, HashRequest{.revision = 0}).body).compact_revision == -1);

  run(one, CompactRequest{900});
  run(other, CompactRequest{900});
  for (int i = 0; i < 100; ++i) run(other, range_of("a"));
  REQUIRE(one.versions() > other.versions());
  REQUIRE(hash(one, 0) == hash(other, 0));
  REQUIRE(hash(one, 901) == hash(other, 901));

  REQUIRE(hash(one, 900) == hash(other, 900));
  require_code(ask(one, HashRequest{.revision = 899}), Code::kCompacted);
  require_code(ask(one, HashRequest{.revision = 1002}), Code::kFutureRevision);
  run(other, put_of("one", "more"));
  REQUIRE(hash(one, 0) != hash(other, 0));
  REQUIRE(hash(one, 1001) == hash(other, 1001));
}

TEST_CASE("Digests are equal exactly where states are") {
  for (const std::uint64_t seed : testing::seeds(4)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    KvStore one, other;
    run(other, put_of("a", "first"));
    int different = 0;
    for (int i = 0; i < 400; ++i) {
      const Request request = random.next(one.revision());
      run(one, request);
      run(other, request);
      // Deletes and compactions may make them equal again.
      REQUIRE((one.digest() == other.digest()) == (one.save() == other.save()));
      different += one.digest() != other.digest();
    }
    REQUIRE(different > 0);
  }
  KvStore swapped, straight;
  run(straight, put_of("a", "x"));
  run(straight, put_of("b", "y"));
  run(swapped, put_of("b", "y"));
  run(swapped, put_of("a", "x"));
  REQUIRE(swapped.digest() != straight.digest());
}

}  // namespace
}  // namespace ingot::kv
