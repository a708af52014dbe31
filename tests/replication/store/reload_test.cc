// Replicas that have loaded a snapshot go on as those that have not: equal state, digest, counts and answers after each
// later command.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/store/limits.h"
#include "tests/replication/store/churn_requests.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

std::unique_ptr<KvStore> loaded_from(const KvStore& store, const Quota& quota = Quota()) {
  auto loaded = std::make_unique<KvStore>(quota);
  REQUIRE(loaded->load(store.save()).ok());
  return loaded;
}

void require_equal_answers(const std::string& answer, const std::string& expected) {
  if (answer == expected) return;
  FAIL("answers " << to_json(*decode_result(answer)) << "\ninstead of " << to_json(*decode_result(expected)));
}

void require_equal(const KvStore& store, const KvStore& other) {
  REQUIRE(other.digest() == store.digest());
  REQUIRE(other.compute_digest() == store.digest());
  REQUIRE(other.counted() == store.counted());
  REQUIRE(other.held() == store.held());
  REQUIRE(other.versions() == store.versions());
  REQUIRE(other.bytes() == store.bytes());
  REQUIRE(other.live_keys() == store.live_keys());
  REQUIRE(other.revision() == store.revision());
  REQUIRE(other.compact_revision() == store.compact_revision());
  REQUIRE(other.no_space() == store.no_space());
}

// One that never loads, and others that load its snapshots at different times.
class Replicas {
 public:
  explicit Replicas(Quota quota) : quota_(quota) {
    for (int i = 0; i < 5; ++i) stores_.push_back(std::make_unique<KvStore>(quota));
  }

  const KvStore& first() const { return *stores_.front(); }

  void run(const Request& request) {
    INFO("request " << to_json(request));
    const std::string bytes = encode(request);
    const std::string result = stores_.front()->apply(Slot(0), bytes);
    for (std::size_t i = 1; i < stores_.size(); ++i) {
      INFO("replica " << i);
      require_equal_answers(stores_[i]->apply(Slot(0), bytes), result);
      require_equal(first(), *stores_[i]);
    }
  }

  void ask(const Request& request) {
    INFO("query " << to_json(request));
    const std::string bytes = encode(request);
    const std::string answer = stores_.front()->query(bytes);
    for (std::size_t i = 1; i < stores_.size(); ++i) {
      INFO("replica " << i);
      require_equal_answers(stores_[i]->query(bytes), answer);
    }
  }

  // The second loads its own snapshot, the third the first's, after each command; the others now and then.
  void load(Prng& rng) {
    stores_[1] = loaded_from(*stores_[1], quota_);
    stores_[2] = loaded_from(first(), quota_);
    for (std::size_t i = 3; i < stores_.size(); ++i) {
      if (rng.chance(0.05)) stores_[i] = loaded_from(first(), quota_);
    }
  }

  void require_equal_snapshots() const {
    for (const auto& store : stores_) REQUIRE(store->save() == first().save());
  }

 private:
  const Quota quota_;
  std::vector<std::unique_ptr<KvStore>> stores_;
};

template <typename Next>
void run_replicas(std::uint64_t seed, int commands, Quota quota, const Next& next) {
  INFO("seed " << seed);
  ChurnRequests queries(~seed);
  Prng rng(seed);
  Replicas replicas(quota);
  for (int i = 0; i < commands; ++i) {
    INFO("command " << i);
    replicas.load(rng);
    replicas.run(next(replicas.first()));
    const Revision newest = replicas.first().revision();
    const Revision compacted = replicas.first().compact_revision();
    replicas.ask(queries.events(newest, compacted));
    RangeRequest range = everything();
    range.step_entries = kStepEntriesMax;
    range.revision = std::max<Revision>(compacted, newest - static_cast<Revision>(rng.below(5)));
    replicas.ask(range);
    replicas.ask(HashRequest{.revision = newest});
  }
  replicas.require_equal_snapshots();
}

TEST_CASE("Stores that load a snapshot after each command go on like one that never does") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    ChurnRequests random(seed);
    const Quota quota(seed % 2 == 0 ? 0 : 300'000);
    run_replicas(seed, 300, quota,
                 [&](const KvStore& store) { return random.next(store.revision(), store.compact_revision()); });
  }
}

TEST_CASE("They do so with requests of every kind") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    RandomRequests random(seed);
    run_replicas(seed, 500, Quota(), [&](const KvStore& store) { return random.next_or_alarm(store.revision()); });
  }
}

// What is superseded at one revision was freed in another order than it was written, and so another version of it was
// left than a replica had left that loaded what was left. The next command told: two digests at one slot.
TEST_CASE("a key that one transaction deletes, puts and deletes is freed in that order") {
  KvStore store;
  run(store, put_of("k", "old"));
  TxnRequest txn;
  const std::string on(1, '\0');
  txn.success = {delete_of("k", on), put_of("k", "new"), delete_of("k", on)};
  REQUIRE(run(store, txn).code == Code::kOk);
  REQUIRE(run(store, CompactRequest{store.revision()}).code == Code::kOk);
  REQUIRE(store.versions() == 1);  // the last delete, of which watches must hear
  const auto loaded = loaded_from(store);
  for (int i = 0; i < 2; ++i) {
    run(store, put_of("a", "1"));
    run(*loaded, put_of("a", "1"));
    require_equal(store, *loaded);
  }
  run(store, CompactRequest{store.revision()});
  run(*loaded, CompactRequest{store.revision()});
  require_equal(store, *loaded);
  REQUIRE(store.versions() == 1);  // the last put
}

// Changes at the compacted revision that are freed counted as looked at; a log that was loaded does not have them.
TEST_CASE("an answer of events ends where it ends on a replica that has loaded a snapshot") {
  KvStore store;
  TxnRequest txn;
  for (int i = 0; i < 100; ++i) txn.success.emplace_back(put_of(numbered_key(i), ""));
  txn.success.emplace_back(delete_of("k", std::string(1, '\0')));
  run(store, txn);
  run(store, CompactRequest{store.revision()});
  for (std::size_t i = 0; i < kEventsLookedMax; ++i) run(store, put_of("a", ""));
  EventsRequest request;
  request.from = {store.compact_revision(), 0};
  request.bytes_max = kEventsBytesMax;
  request.ranges = {{"b", ""}};
  const std::string bytes = encode(Request(request));
  REQUIRE(std::get<EventsResult>(ask(store, request).body).next.revision <= store.revision());
  require_equal_answers(loaded_from(store)->query(bytes), store.query(bytes));
}

}  // namespace
}  // namespace ingot::kv
