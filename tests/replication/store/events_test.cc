// Events: what answers hold, what compaction leaves of them, and when a standing query is answered.
#include <catch2/catch.hpp>

#include "core/prng.h"
#include "replication/store/codec.h"
#include "replication/store/limits.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

EventsRequest events_from(Revision revision, std::uint32_t place = 0) {
  EventsRequest r;
  r.from = {revision, place};
  r.bytes_max = kEventsBytesMax;
  r.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
  return r;
}

EventsResult events(const KvStore& store, const EventsRequest& request) {
  const Result result = ask(store, request);
  REQUIRE(result.code == Code::kOk);
  return std::get<EventsResult>(result.body);
}

// A transaction that puts so many keys.
TxnRequest puts_of(int keys, const std::string& value) {
  TxnRequest txn;
  for (int i = 0; i < keys; ++i) txn.success.emplace_back(put_of(numbered_key(i), value));
  return txn;
}

TEST_CASE("Events are a key's puts and deletes, in the order of revisions and places") {
  KvStore store;
  run(store, put_of("a", "1"));
  run(store, put_of("b", "1"));
  TxnRequest txn;
  txn.success = {put_of("a", "2"), delete_of("b")};
  run(store, txn);
  EventsRequest request = events_from(2);
  request.prev_kv = true;
  const EventsResult all = events(store, request);
  REQUIRE(all.next == EventPosition{5, 0});
  REQUIRE_FALSE(all.part);
  REQUIRE(all.events.size() == 4);
  REQUIRE(all.events[0].kv == KeyValue{"a", "1", 2, 2, 1, 0});
  REQUIRE_FALSE(all.events[0].has_prev);
  REQUIRE(all.events[2].kv == KeyValue{"a", "2", 2, 4, 2, 0});
  REQUIRE(all.events[2].prev == KeyValue{"a", "1", 2, 2, 1, 0});
  REQUIRE(all.events[3].deleted);
  REQUIRE(all.events[3].place == 1);
  REQUIRE(all.events[3].kv == KeyValue{"b", "", 0, 4, 0, 0});
  REQUIRE(all.events[3].prev == KeyValue{"b", "1", 3, 3, 1, 0});

  request.ranges = {{"b", ""}};
  REQUIRE(events(store, request).events.size() == 2);
  request.ranges.clear();
  REQUIRE(events(store, request).events.empty());
  REQUIRE(events(store, request).next == EventPosition{5, 0});
  REQUIRE(events(store, events_from(5)).next == EventPosition{5, 0});
  REQUIRE(events(store, events_from(9)).next == EventPosition{9, 0});
}

TEST_CASE("An answer holds whole revisions, or a part of one and nothing else") {
  KvStore store;
  run(store, put_of("a", "1"));
  run(store, puts_of(10, std::string(100, 'v')));
  run(store, put_of("z", "1"));
  EventsRequest request = events_from(2);
  request.bytes_max = 500;
  EventsResult answer = events(store, request);
  REQUIRE(answer.events.size() == 1);
  REQUIRE(answer.next == EventPosition{3, 0});
  REQUIRE_FALSE(answer.part);
  std::size_t parts = 0, found = 0;
  while (answer.next.revision == 3) {
    request.from = answer.next;
    answer = events(store, request);
    REQUIRE(answer.part);
    for (const Event& event : answer.events) {
      REQUIRE(event.kv.mod_revision == 3);
      REQUIRE(event.place == found++);
    }
    ++parts;
  }
  REQUIRE(found == 10);
  REQUIRE(parts == 4);
  REQUIRE(answer.next == EventPosition{4, 0});
  request.from = answer.next;
  answer = events(store, request);
  REQUIRE_FALSE(answer.part);
  REQUIRE(answer.events.size() == 1);
  REQUIRE(answer.events[0].kv.key == "z");
}

// Regression: revisions 0 and 1 have no changes, and the rest of 0 ended with 2 or with the newest.
TEST_CASE("The rest of a revision ends with that revision, also if it has no changes") {
  KvStore store;
  const auto end_of_rest = [&](Revision revision) {
    const EventsResult rest = events(store, events_from(revision, 3));
    CHECK(rest.events.empty());
    CHECK(rest.part);
    return rest.next;
  };
  for (int puts = 0; puts < 3; ++puts) {
    for (Revision revision = 0; revision <= store.revision(); ++revision) {
      CHECK(end_of_rest(revision) == EventPosition{revision + 1, 0});
    }
    run(store, put_of("a", "1"));
  }
  const EventsResult future = events(store, events_from(9, 3));
  CHECK_FALSE(future.part);
  CHECK(future.next == EventPosition{9, 3});
}

TEST_CASE("An event comes however large it is, with the value before it") {
  KvStore store;
  const std::string large(kRequestBytesMax - 100, 'v');
  for (int i = 0; i < 3; ++i) run(store, put_of("a", large));
  EventsRequest request = events_from(3);
  request.prev_kv = true;
  const std::string bytes = store.query(encode(Request(request)));
  REQUIRE(bytes.size() > 2 * large.size());
  REQUIRE(bytes.size() < kMessageBytesMax);
  const EventsResult answer = events(store, request);
  REQUIRE(answer.events.size() == 1);
  REQUIRE(answer.next == EventPosition{4, 0});
}

TEST_CASE("A request looks at so many changes, and says how far it came") {
  KvStore store;
  const auto changes = static_cast<Revision>(2 * kEventsLookedMax + 5);
  for (Revision i = 0; i < changes; ++i) run(store, put_of("a", ""));
  EventsRequest request = events_from(2);
  request.ranges = {{"b", ""}};
  int answers = 0;
  for (EventsResult answer; answer.next.revision <= changes + 1; ++answers) {
    answer = events(store, request);
    REQUIRE(answer.next > request.from);
    request.from = answer.next;
  }
  REQUIRE(answers == 3);
}

TEST_CASE("At the compacted revision the last change of each key is left, deletes too, without what was before") {
  KvStore store;
  run(store, put_of("a", "1"));
  run(store, put_of("b", "1"));
  TxnRequest nested;
  nested.success = {put_of("c", "1")};
  TxnRequest txn;
  txn.success = {std::make_shared<TxnRequest>(nested), put_of("d", "1")};
  TxnRequest removes;
  removes.success = {delete_of("c")};
  txn.success.emplace_back(std::make_shared<TxnRequest>(removes));
  txn.success.emplace_back(put_of("a", "2"));
  txn.success.emplace_back(std::make_shared<TxnRequest>([] {
    TxnRequest last;
    last.success = {delete_of("b")};
    return last;
  }()));
  run(store, txn);
  run(store, CompactRequest{4});
  EventsRequest request = events_from(4);
  request.prev_kv = true;
  const auto check = [&](const KvStore& of) {
    const EventsResult answer = events(of, request);
    REQUIRE(answer.compact_revision == 4);
    REQUIRE(answer.next == EventPosition{5, 0});
    std::string seen;
    for (const Event& event : answer.events) {
      REQUIRE_FALSE(event.has_prev);
      seen += (event.deleted ? "-" : "+") + event.kv.key;
    }
    REQUIRE(seen == "+d-c+a-b");
  };
  check(store);
  for (int i = 0; i < 20; ++i) run(store, range_of("a"));
  check(store);
  KvStore loaded;
  REQUIRE(loaded.load(store.save()).ok());
  check(loaded);
  REQUIRE(loaded.digest() == store.digest());

  run(store, put_of("e", "1"));
  run(store, CompactRequest{5});
  request.from = {4, 0};
  const EventsResult lost = events(store, request);
  REQUIRE(lost.events.empty());
  REQUIRE(lost.next.revision < lost.compact_revision);
  REQUIRE(store.versions() == 3);  // the tombstones of revision 4 went with this compaction
}

TEST_CASE("A walk in small answers, in any pieces, finds the events of one large answer") {
  for (const std::uint64_t seed : testing::seeds(8)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    Prng rng(seed);
    KvStore store;
    for (int i = 0; i < 600; ++i) run(store, random.next(store.revision()));
    const Revision from = std::max<Revision>(store.compact_revision(), 2);
    EventsRequest request = events_from(from);
    request.prev_kv = rng.chance(0.5);
    const EventsResult whole = events(store, request);
    REQUIRE(whole.next == EventPosition{store.revision() + 1, 0});
    std::vector<Event> walked;
    while (request.from < whole.next) {
      request.bytes_max = static_cast<std::uint32_t>(rng.below(400));
      const EventsResult piece = events(store, request);
      REQUIRE(piece.next > request.from);
      walked.insert(walked.end(), piece.events.begin(), piece.events.end());
      request.from = piece.next;
    }
    EventsResult joined = whole;
    joined.events = std::move(walked);
    Result one, other;
    one.body = whole;
    other.body = joined;
    REQUIRE(encode(one) == encode(other));
  }
}

TEST_CASE("An answer is read in place as it is read into structs") {
  KvStore store;
  RandomRequests random(testing::drawn_seed());
  for (int i = 0; i < 200; ++i) run(store, random.next(store.revision()));
  EventsRequest request = events_from(std::max<Revision>(store.compact_revision(), 2));
  request.prev_kv = true;
  const std::string bytes = store.query(encode(Request(request)));
  EventsAnswerView view;
  REQUIRE(decode_events(bytes, view) == Code::kOk);
  const EventsResult result = std::get<EventsResult>(decode_result(bytes)->body);
  REQUIRE(view.revision == store.revision());
  REQUIRE(view.head.next == result.next);
  REQUIRE(view.events.size() == result.events.size());
  for (std::size_t i = 0; i < result.events.size(); ++i) {
    REQUIRE(to_key_value(view.events[i].kv) == result.events[i].kv);
    REQUIRE(to_key_value(view.events[i].prev) == result.events[i].prev);
    REQUIRE(view.events[i].place == result.events[i].place);
    REQUIRE(view.events[i].deleted == result.events[i].deleted);
  }
  REQUIRE(decode_events(std::string_view(bytes).substr(0, bytes.size() - 1), view) == Code::kMalformed);
  REQUIRE(decode_events(store.query(encode(Request(range_of("a")))), view) == Code::kMalformed);
  REQUIRE(decode_events(store.query(encode(Request(range_of("")))), view) == Code::kEmptyKey);
}

// ---- Standing queries ----

std::optional<EventsResult> look(StandingQuery& query, bool overdue = false) {
  const auto answer = query.look(overdue);
  if (!answer) return std::nullopt;
  return std::get<EventsResult>(decode_result(*answer)->body);
}

TEST_CASE("A standing query is answered when one of its keys has changed") {
  KvStore store;
  EventsRequest request = events_from(2);
  request.ranges = {{"b", "c"}};
  const auto query = store.stand(encode(Request(request)));
  REQUIRE(query != nullptr);
  REQUIRE_FALSE(look(*query));
  run(store, put_of("a", "1"));
  REQUIRE_FALSE(look(*query));
  run(store, put_of("bb", "1"));
  run(store, put_of("c", "1"));
  for (int i = 0; i < 2; ++i) {  // an answer that is not taken is given again
    const auto answer = look(*query);
    REQUIRE(answer);
    REQUIRE(answer->events.size() == 1);
    REQUIRE(answer->next == EventPosition{5, 0});
  }
}

TEST_CASE("A standing query is answered at a revision, after a compaction, and when it is overdue and has moved") {
  KvStore store;
  EventsRequest request = events_from(2);
  request.ranges.clear();
  auto query = store.stand(encode(Request(request)));
  REQUIRE_FALSE(look(*query, true));  // nothing has moved
  run(store, put_of("a", "1"));
  REQUIRE_FALSE(look(*query));
  REQUIRE(look(*query, true)->next == EventPosition{3, 0});

  request.from = {3, 0};
  request.at_least = 4;
  query = store.stand(encode(Request(request)));
  REQUIRE_FALSE(look(*query));
  run(store, put_of("a", "1"));
  REQUIRE_FALSE(look(*query));
  run(store, put_of("a", "1"));
  REQUIRE(look(*query)->next == EventPosition{5, 0});

  request.from = {5, 0};
  request.at_least = 0;
  query = store.stand(encode(Request(request)));
  REQUIRE_FALSE(look(*query));
  run(store, CompactRequest{3});
  REQUIRE(look(*query)->compact_revision == 3);
  request.known_compacted = 3;
  query = store.stand(encode(Request(request)));
  REQUIRE_FALSE(look(*query));
}

TEST_CASE("What a standing query has looked at is not lost by a compaction") {
  KvStore store;
  EventsRequest request = events_from(2);
  request.ranges = {{"b", ""}};
  const auto query = store.stand(encode(Request(request)));
  for (int i = 0; i < 5; ++i) run(store, put_of("a", "1"));
  REQUIRE_FALSE(look(*query));
  run(store, CompactRequest{6});
  const auto answer = look(*query);
  REQUIRE(answer);
  REQUIRE(answer->next == EventPosition{7, 0});
  REQUIRE(answer->compact_revision == 6);
}

TEST_CASE("Only a well-formed request for events may stand") {
  KvStore store;
  REQUIRE(store.stand("nonsense") == nullptr);
  REQUIRE(store.stand(encode(Request(range_of("a")))) == nullptr);
  EventsRequest request = events_from(-1);
  REQUIRE(store.stand(encode(Request(request))) == nullptr);
  request = events_from(2);
  request.ranges = {{"a", "c"}, {"b", ""}};
  REQUIRE(store.stand(encode(Request(request))) == nullptr);
  request.ranges.assign(kEventRangesMax + 1, {"a", ""});
  for (std::size_t i = 0; i < request.ranges.size(); ++i) request.ranges[i].key = numbered_key(static_cast<int>(i));
  REQUIRE(store.stand(encode(Request(request))) == nullptr);
  request.ranges.pop_back();
  REQUIRE(store.stand(encode(Request(request))) != nullptr);
}

}  // namespace
}  // namespace ingot::kv
