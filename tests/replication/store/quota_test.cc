// The quota and the NOSPACE alarm: what is counted, what is refused, and how a full store gets room again.
#include <catch2/catch.hpp>

#include <limits>

#include "replication/store/kv_store.h"
#include "replication/store/limits.h"
#include "replication/store/quota.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/text.h"

namespace ingot::kv {
namespace {

using Action = AlarmRequest::Action;

constexpr std::int64_t kKey = kKeyCountedBytes + 1;      // of a key of one byte
constexpr std::int64_t kVersion = kVersionCountedBytes;  // of a version without a value

void require_code(const Result& result, Code code) {
  INFO(to_json(result));
  REQUIRE(result.code == code);
}

bool alarm(KvStore& store, Action action) {
  return std::get<AlarmResult>(run(store, AlarmRequest{action}).body).no_space;
}

TEST_CASE("Each version is counted with its value, each key that exists and each tombstone with its key") {
  KvStore store;
  run(store, put_of("a", "12345"));
  REQUIRE(store.counted() == CountedBytes{kKey + kVersion + 5, 0});
  run(store, put_of("a", "123"));
  REQUIRE(store.counted() == CountedBytes{kKey + kVersion + 3, kVersion + 5});
  run(store, delete_of("a"));
  REQUIRE(store.counted() == CountedBytes{0, kKey + 3 * kVersion + 8});
  run(store, put_of("a", ""));
  REQUIRE(store.counted() == CountedBytes{kKey + kVersion, kKey + 3 * kVersion + 8});
  run(store, CompactRequest{store.revision() - 1});
  REQUIRE(store.counted() == CountedBytes{kKey + kVersion, 0});
}

TEST_CASE("A put that fits exactly is carried out, and the next one raises the alarm") {
  KvStore store(Quota(2 * (kKey + kVersion + 100)));
  require_code(run(store, put_of("a", std::string(100, 'v'))), Code::kOk);
  require_code(run(store, put_of("b", std::string(100, 'v'))), Code::kOk);
  REQUIRE_FALSE(store.no_space());
  const std::uint64_t digest = store.digest();
  require_code(run(store, put_of("c", "")), Code::kNoSpace);
  REQUIRE(store.no_space());
  REQUIRE(store.digest() != digest);
  require_code(run(store, delete_of("a")), Code::kNoSpace);  // the reserve is 28 bytes, and a tombstone takes 128
  require_code(ask(store, range_of("a")), Code::kOk);
  require_code(run(store, CompactRequest{2}), Code::kOk);
  REQUIRE(store.revision() == 3);
}

TEST_CASE("While the alarm stands, puts are refused though there is room; reads, deletes and compactions are not") {
  KvStore store(Quota(1'000'000));
  run(store, put_of("a", "1"));
  REQUIRE(alarm(store, Action::kActivate));
  REQUIRE(std::get<AlarmResult>(ask(store, AlarmRequest{}).body).no_space);
  require_code(run(store, put_of("b", "1")), Code::kNoSpace);
  TxnRequest txn;
  txn.failure.emplace_back(std::make_shared<TxnRequest>());
  require_code(run(store, txn), Code::kOk);
  std::get<std::shared_ptr<TxnRequest>>(txn.failure[0])->success.emplace_back(put_of("b", "1"));
  require_code(run(store, txn), Code::kNoSpace);  // a branch that is not taken has a put
  require_code(run(store, range_of("a")), Code::kOk);
  txn.failure = {delete_of("a")};
  txn.success = {range_of("a")};
  require_code(run(store, txn), Code::kOk);
  require_code(run(store, delete_of("a")), Code::kOk);
  require_code(run(store, CompactRequest{store.revision()}), Code::kOk);
  REQUIRE(alarm(store, Action::kDeactivate));
  REQUIRE_FALSE(alarm(store, Action::kDeactivate));
  require_code(run(store, put_of("b", "1")), Code::kOk);
}

TEST_CASE("Deletes have a sixteenth of the quota as a reserve, and no more") {
  constexpr int kKeys = 32;
  KvStore store(Quota(kKeys * (kKeyCountedBytes + 9 + kVersion + 119)));  // the reserve is that of 6 tombstones
  for (int i = 0; i < kKeys; ++i) require_code(run(store, put_of(numbered_key(i), std::string(119, 'v'))), Code::kOk);
  const std::int64_t reserve = store.quota().deletes_max() - store.quota().bytes();
  REQUIRE(reserve == store.quota().bytes() / 16);
  int deleted = 0;
  while (run(store, delete_of(numbered_key(deleted))).code == Code::kOk) ++deleted;
  REQUIRE(deleted == reserve / kVersion);
  REQUIRE(store.no_space());
  require_code(run(store, delete_of("key", "l")), Code::kNoSpace);
  REQUIRE(store.live_keys() == kKeys - deleted);  // nothing of it was deleted
  require_code(run(store, CompactRequest{store.revision()}), Code::kOk);
  require_code(run(store, delete_of("key", numbered_key(kKeys / 2))), Code::kOk);
  require_code(run(store, CompactRequest{store.revision()}), Code::kOk);
  require_code(run(store, delete_of("key", "l")), Code::kOk);
  REQUIRE(store.live_keys() == 0);
}

TEST_CASE("The reserve is at most 64 MiB, and a huge quota overflows nothing") {
  constexpr std::int64_t kGiB = 1024 * 1024 * 1024;
  REQUIRE(Quota(kGiB).deletes_max() == kGiB + 64 * 1024 * 1024);
  REQUIRE(Quota(64 * kGiB).deletes_max() == 64 * kGiB + 64 * 1024 * 1024);
  REQUIRE(Quota(std::numeric_limits<std::int64_t>::max()).deletes_max() == std::numeric_limits<std::int64_t>::max());
  REQUIRE(Quota(0).puts_max() == std::numeric_limits<std::int64_t>::max());
  REQUIRE(Quota(-1).bytes() == 0);
}

TEST_CASE("A transaction that does not fit changes nothing but the alarm") {
  KvStore store(Quota(4 * (kKey + kVersion)));
  run(store, put_of("a", ""));
  run(store, put_of("b", ""));
  const CountedBytes counted = store.counted();
  TxnRequest txn;
  txn.success = {delete_of("a"), put_of("c", ""), put_of("d", "")};
  require_code(run(store, txn), Code::kNoSpace);
  REQUIRE(store.counted() == counted);
  REQUIRE(store.revision() == 3);
  REQUIRE(store.live_keys() == 2);
  REQUIRE(store.digest() == store.compute_digest());
  alarm(store, Action::kDeactivate);
  txn.success.pop_back();
  require_code(run(store, txn), Code::kOk);
}

TEST_CASE("A put that keeps the value counts that value") {
  KvStore store(Quota(kKey + 2 * kVersion + 199));
  run(store, put_of("a", std::string(100, 'v')));
  PutRequest again = put_of("a", "");
  again.ignore_value = true;
  require_code(run(store, again), Code::kNoSpace);
}

TEST_CASE("A compaction makes room at once, though the versions are freed in steps") {
  constexpr int kVersions = 20 * kCompactionStepVersions;
  KvStore store(Quota(kKey + kVersions * (kVersion + 10)));
  for (int i = 0; i < kVersions; ++i) require_code(run(store, put_of("a", std::string(10, 'v'))), Code::kOk);
  require_code(run(store, put_of("a", std::string(10, 'v'))), Code::kNoSpace);
  run(store, CompactRequest{store.revision()});
  REQUIRE(store.versions() > kVersions / 2);
  REQUIRE(store.counted() == CountedBytes{kKey + kVersion + 10, 0});
  KvStore loaded;
  REQUIRE(loaded.load(store.save()).ok());
  REQUIRE(loaded.counted() == store.counted());
  alarm(store, Action::kDeactivate);
  for (int i = 0; i < kVersions / 2; ++i) require_code(run(store, put_of("a", std::string(10, 'v'))), Code::kOk);
}

TEST_CASE("The alarm's state is a query, and changing it is a command without a revision") {
  KvStore store;
  require_code(ask(store, AlarmRequest{Action::kActivate}), Code::kMalformed);
  require_code(ask(store, AlarmRequest{Action::kDeactivate}), Code::kMalformed);
  REQUIRE_FALSE(std::get<AlarmResult>(ask(store, AlarmRequest{}).body).no_space);
  REQUIRE(run(store, AlarmRequest{Action::kActivate}).revision == 1);
  REQUIRE(std::get<AlarmResult>(run(store, AlarmRequest{}).body).no_space);
}

TEST_CASE("A loaded snapshot keeps the quota of the store that loads it, and takes the alarm") {
  KvStore full(Quota(1));
  run(full, put_of("a", "1"));
  KvStore roomy(Quota(1'000'000));
  REQUIRE(roomy.load(full.save()).ok());
  REQUIRE(roomy.no_space());
  REQUIRE(roomy.quota().bytes() == 1'000'000);
  REQUIRE(roomy.digest() == full.digest());
}

}  // namespace
}  // namespace ingot::kv
