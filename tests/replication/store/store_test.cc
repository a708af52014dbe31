// Ingot's additions to etcd's semantics: bounds, pages, compaction in steps, hashes.
#include <catch2/catch.hpp>

#include "replication/store/kv_store.h"
#include "replication/store/limits.h"
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

TEST_CASE("Pages join to the whole answer, whatever the order, filter and limit") {
  KvStore store;
  Prng rng(1);
  const std::string value(20'000, 'v');
  for (int i = 0; i < 300; ++i) run(store, put_of(numbered_key(i), value.substr(rng.below(value.size()))));
  const Revision then = store.revision();
  for (const SortOrder order : {SortOrder::kNone, SortOrder::kDescend}) {
    for (const SortTarget target : {SortTarget::kKey, SortTarget::kValue}) {
      for (const std::int64_t limit : {0, 200}) {
        RangeRequest whole = everything();
        whole.revision = then;
        whole.sort_order = order;
        whole.sort_target = target;
        whole.limit = limit;
        whole.min_mod_revision = 10;
        // Without pages the answer would exceed the limit; keys alone are enough for a comparison.
        whole.keys_only = true;
        RangeResult expected = std::get<RangeResult>(ask(store, whole).body);
        REQUIRE(expected.next_offset == 0);

        RangeRequest page = whole;
        page.keys_only = false;
        page.page = true;
        std::vector<KeyValue> joined;
        int pages = 0;
        do {
          const RangeResult result = std::get<RangeResult>(ask(store, page).body);
          REQUIRE(result.count == expected.count);
          REQUIRE(result.more == expected.more);
          joined.insert(joined.end(), result.kvs.begin(), result.kvs.end());
          page.offset = result.next_offset;
          ++pages;
          run(store, put_of("between", "pages"));
        } while (page.offset != 0);
        REQUIRE(pages > 1);
        for (KeyValue& kv : joined) kv.value.clear();
        REQUIRE(joined == expected.kvs);
      }
    }
  }
}

TEST_CASE("A page within a transaction, or an offset without a page, is refused") {
  KvStore store;
  RangeRequest page = range_of("a");
  page.page = true;
  TxnRequest txn;
  txn.success.emplace_back(page);
  require_code(ask(store, txn), Code::kMalformed);
  page.page = false;
  page.offset = 1;
  require_code(ask(store, page), Code::kMalformed);
  page.page = true;
  page.offset = -1;
  require_code(ask(store, page), Code::kMalformed);
  page.offset = 1'000'000;
  REQUIRE(std::get<RangeResult>(ask(store, page).body).kvs.empty());
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
    return std::get<HashResult>(ask(store, HashRequest{revision}).body).hash;
  };
  REQUIRE(hash(one, 0) == hash(other, 0));
  REQUIRE(hash(one, 500) == hash(other, 500));
  REQUIRE(hash(one, 500) != hash(other, 501));
  REQUIRE(std::get<HashResult>(ask(one, HashRequest{0}).body).compact_revision == -1);

  run(one, CompactRequest{900});
  run(other, CompactRequest{900});
  for (int i = 0; i < 100; ++i) run(other, range_of("a"));
  REQUIRE(one.versions() > other.versions());
  REQUIRE(hash(one, 0) == hash(other, 0));
  REQUIRE(hash(one, 901) == hash(other, 901));

  require_code(ask(one, HashRequest{900}), Code::kCompacted);
  require_code(ask(one, HashRequest{1002}), Code::kFutureRevision);
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
