// The core of a replica: which actions an input causes, in which order, and that it may stop between any two of them.
#include "replication/replica/core.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/replica/floor_reads.h"
#include "replication/replica/limits.h"
#include "replication/replica/snapshots/loader.h"
#include "replication/replica/snapshots/messages.h"
#include "replication/requests/floor.h"
#include "replication/stable/limits.h"
#include "replication/store/api.h"
#include "tests/replication/replica/cores_on_one_thread.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Kind = Action::Kind;

struct Put {
  Put(const std::string& key, const std::string& value) {
    kv::PutRequest put;
    put.key = key;
    put.value = value;
    bytes = kv::encode(kv::Request(put));
  }
  // The put as a request with that sequence of the client's session, to be answered by `responder`.
  Request request(std::uint64_t sequence, EndpointId client, EndpointId responder) const {
    Request request;
    request.client = 7;
    request.sequence = sequence;
    request.acknowledged_below = 1;
    request.reply_to = client;
    request.responder = responder;
    request.payload = bytes;
    return request;
  }
  std::string bytes;
};

// The trace without kFlush and kWake, whose places in the order do not matter.
std::vector<Kind> without_channels(std::vector<Kind> trace) {
  std::erase_if(trace, [](Kind kind) { return kind == Kind::kFlush || kind == Kind::kWake; });
  return trace;
}

// Runs rounds until no replica acts or waits for time.
void settle(CoresOnOneThread& group, int rounds = 2'000) {
  for (int i = 0; i < rounds; ++i) {
    for (int replica = 0; replica < group.replicas(); ++replica) group.round(replica);
  }
}

// Writes a first command, with which leader and acceptor also store their roles.
void write_first(CoresOnOneThread& group) {
  group.request(0, Put("first", "0").request(1, group.client(), EndpointId(1)));
  settle(group);
  REQUIRE(group.answers().size() == 1);
}

TEST_CASE("a write is stored before it is sent, stored again before it is learned, applied, and then answered") {
  CoresOnOneThread group("1paxos", 3);
  write_first(group);
  group.request(0, Put("a", "1").request(2, group.client(), EndpointId(1)));

  std::vector<Kind> leader, acceptor, learner;
  group.round(0, &leader);
  CHECK(without_channels(leader) == std::vector<Kind>{Kind::kStore, Kind::kSend});
  CHECK(group.answers().empty());
  group.round(1, &acceptor);
  CHECK(without_channels(acceptor) ==
        std::vector<Kind>{Kind::kStore, Kind::kSend, Kind::kSend, Kind::kApply, Kind::kSend});
  const auto answers = group.answers();
  REQUIRE(answers.size() == 1);
  const auto response = decode_response(answers[0]);
  REQUIRE(response);
  CHECK(response->status == Response::Status::kOk);
  CHECK(response->slot == Slot(2));
  group.round(2, &learner);
  CHECK(without_channels(learner) == std::vector<Kind>{Kind::kApply});
}

TEST_CASE("an action stays the next one until it is done") {
  CoresOnOneThread group("1paxos", 3);
  write_first(group);
  group.request(0, Put("a", "1").request(2, group.client(), EndpointId(1)));
  group.begin(0);
  const Action* first = group.core(0).next();
  REQUIRE(first != nullptr);
  CHECK(first->kind == Kind::kStore);
  CHECK(group.core(0).next() == first);
  CHECK(group.core(0).next()->write->kind == StableWrite::Kind::kProposed);
}

TEST_CASE("replicas that stop after any action, and go on later, lose nothing and answer once") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  const std::uint64_t seed = GENERATE(from_range(testing::seeds(20)));
  CAPTURE(agreement, seed);
  constexpr std::uint64_t kPuts = 40;
  CoresOnOneThread group(agreement, 3);
  settle(group);
  Prng prng(seed);
  std::multiset<std::uint64_t> answered;
  const auto collect = [&] {
    for (const std::string& answer : group.answers()) {
      const auto response = decode_response(answer);
      REQUIRE(response);
      REQUIRE(response->status == Response::Status::kOk);
      answered.insert(response->sequence);
    }
  };
  for (std::uint64_t sequence = 1; sequence <= kPuts; ++sequence) {
    const Put put("key-" + std::to_string(sequence % 5), std::to_string(sequence));
    group.request(0, put.request(sequence, group.client(), EndpointId(static_cast<std::uint16_t>(prng.below(3)))));
    for (int turn = 0; turn < 5; ++turn) {
      const int replica = static_cast<int>(prng.below(3));
      group.begin(replica);
      group.step(replica, static_cast<int>(prng.below(4)));
    }
    collect();
  }
  for (int replica = 0; replica < 3; ++replica) {
    while (group.step(replica, 1'000)) {
    }
  }
  settle(group);
  collect();
  CHECK(answered.size() == kPuts);
  CHECK(std::set<std::uint64_t>(answered.begin(), answered.end()).size() == kPuts);
  for (int replica = 0; replica < 3; ++replica) {
    CHECK(group.core(replica).applier().applied_commands() == kPuts);
    CHECK(group.core(replica).applier().digest() == group.core(0).applier().digest());
  }
}

TEST_CASE("a vote that would not fit is not cast, and cast when there is room") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  // With the outcomes of a window, this vote may take some 5,400 bytes: fewer than 6,000, but the last sixth is left to
  // takeovers.
  const std::size_t full = GENERATE(0, 6000);
  CAPTURE(agreement, full);
  CoresOnOneThread group(agreement, 3);
  settle(group);
  for (int voter = 1; voter < 3; ++voter) group.stable(voter).set_capacity(full);
  group.request(0, Put("a", "1").request(1, group.client(), EndpointId(0)));
  for (int i = 0; i < 3; ++i) {
    for (int replica = 0; replica < 3; ++replica) group.round(replica);
  }
  CHECK(group.stable(1).make_room_calls > 0);
  CHECK(group.core(0).applier().applied() == Slot(0));
  for (int voter = 1; voter < 3; ++voter) group.stable(voter).set_capacity(kStableSegmentBytes);
  settle(group);
  CHECK(group.core(0).applier().applied_commands() == 1);
}

// A group of which each replica applies ten steps a round. Its store has kKeys keys, and a delete of all is on its way:
// replica 1, the acceptor, has applied the first part of it.
struct GroupInLongCommand {
  static constexpr int kKeys = 200;

  GroupInLongCommand() : group("1paxos", 3, bounds()) {
    write_first(group);
    kv::TxnRequest txn;
    for (int i = 0; i < kKeys / 2; ++i) txn.success.emplace_back(put_of("key-" + std::to_string(i)));
    ask(0, RequestKind::kCommand, txn);
    txn.success.clear();
    for (int i = kKeys / 2; i < kKeys; ++i) txn.success.emplace_back(put_of("key-" + std::to_string(i)));
    ask(0, RequestKind::kCommand, txn);
    settle(group, 100);
    REQUIRE(group.answers().size() == 2);
    before = core().applier().digest();
    slot = core().applier().applied();
    kv::DeleteRangeRequest remove;
    remove.key = "key-";
    remove.range_end = "key.";
    remove_sequence = ask(0, RequestKind::kCommand, remove);
    group.round(0);
    group.round(1);
    REQUIRE(core().applier().under_way());
  }

  static ReplicaBounds bounds() {
    ReplicaBounds bounds;
    bounds.apply_steps = 10;
    return bounds;
  }
  static kv::PutRequest put_of(const std::string& key) {
    kv::PutRequest put;
    put.key = key;
    return put;
  }

  ReplicaCore& core() { return group.core(1); }

  // Returns the request's sequence; the acceptor answers it.
  std::uint64_t ask(int replica, RequestKind kind, const kv::Request& what) {
    const std::string payload = kv::encode(what);
    Request request = Put("", "").request(++sequence, group.client(), EndpointId(1));
    request.kind = kind;
    request.payload = payload;
    group.request(replica, request);
    return sequence;
  }

  // How many keys the acceptor's own state has, as it answers in the next round, if it answers that.
  std::optional<std::int64_t> keys_seen() {
    kv::RangeRequest count;
    count.key = "key-";
    count.range_end = "key.";
    count.count_only = true;
    const std::uint64_t asked = ask(1, RequestKind::kLocalQuery, count);
    group.round(1, &trace);
    std::optional<std::int64_t> seen;
    for (const std::string& bytes : group.answers()) {
      const auto response = decode_response(bytes);
      REQUIRE(response->status == Response::Status::kOk);
      if (response->sequence != asked) answered.push_back(response->sequence);
      else seen = std::get<kv::RangeResult>(kv::decode_result(response->payload)->body).count;
    }
    return seen;
  }

  std::uint64_t sequence = 1;
  CoresOnOneThread group;
  std::uint64_t before = 0;
  Slot slot;
  std::uint64_t remove_sequence = 0;
  std::vector<Kind> trace;              // of the acceptor's rounds in keys_seen()
  std::vector<std::uint64_t> answered;  // besides
};

TEST_CASE("a command that takes many rounds is not seen before it is whole, and its replica votes meanwhile") {
  GroupInLongCommand run;
  const std::uint64_t put = run.ask(0, RequestKind::kCommand, GroupInLongCommand::put_of("later"));
  run.group.round(0);
  int rounds = 0;
  for (; run.core().applier().under_way(); ++rounds) {
    REQUIRE(run.core().applier().applied() == run.slot);
    REQUIRE(run.core().applier().digest() == run.before);
    REQUIRE(run.keys_seen() == GroupInLongCommand::kKeys);
    if (rounds == 0) CHECK(std::count(run.trace.begin(), run.trace.end(), Kind::kStore) == 1);  // its vote for the put
  }
  CHECK(rounds >= GroupInLongCommand::kKeys / 10);
  CHECK(run.keys_seen() == 0);
  settle(run.group, 100);
  run.keys_seen();
  CHECK(run.answered == std::vector<std::uint64_t>{run.remove_sequence, put});
  for (int replica = 0; replica < 3; ++replica) {
    CHECK(run.group.core(replica).applier().digest() == run.core().applier().digest());
  }
}

TEST_CASE("a snapshot that a peer asks for while a command takes many rounds is made when the slot is whole") {
  GroupInLongCommand run;
  SnapshotMessage ask;
  ask.type = SnapshotMessageType::kAsk;
  ask.incarnation = Incarnation(1);
  ask.round = 1;
  run.group.send(2, EndpointId(1), encode(ask));
  bool asked = false;
  while (!asked) {
    std::vector<Kind> trace;
    run.group.round(1, &trace);
    asked = std::count(trace.begin(), trace.end(), Kind::kWriteSnapshot) > 0;
    REQUIRE((asked || run.core().applier().under_way()));
  }
  CHECK_FALSE(run.core().applier().under_way());
  CHECK(run.core().applier().applied() == run.slot.next());
}

TEST_CASE("transactions that read many keys are answered by turns, a part a round, and not twice if asked twice") {
  GroupInLongCommand run;
  settle(run.group, 100);
  run.group.answers();
  kv::TxnRequest reads;
  kv::RangeRequest all;
  all.key = std::string(1, '\0');
  all.range_end = std::string(1, '\0');
  all.count_only = true;
  reads.success = {all, all};  // each looks at the tombstones, too
  const std::uint64_t first = run.ask(1, RequestKind::kLocalQuery, reads);
  reads.success = {all};
  run.sequence = first - 1;
  run.ask(1, RequestKind::kLocalQuery, reads);  // the same sequence again
  const std::uint64_t second = run.ask(1, RequestKind::kLocalQuery, reads);
  int rounds = 0;
  std::vector<std::uint64_t> answered;
  for (; answered.size() < 2; ++rounds) {
    run.group.round(1);
    if (rounds == 0) CHECK(run.core().work() > 0);
    for (const std::string& bytes : run.group.answers()) answered.push_back(decode_response(bytes)->sequence);
  }
  CHECK(answered == std::vector<std::uint64_t>{second, first});
  CHECK(rounds >= 3 * GroupInLongCommand::kKeys / 10);
  settle(run.group, 10);
  CHECK(run.group.answers().empty());
}

// Regression: a replica that lagged answered from a state without a put that its client had been told of.
TEST_CASE("a local query waits until its replica has applied what the client has seen") {
  CoresOnOneThread group("1paxos", 3);
  settle(group);
  write_first(group);
  settle(group, 100);
  group.answers();
  const Slot seen = group.core(1).applier().applied();
  REQUIRE(group.core(2).applier().applied() == seen);
  kv::RangeRequest range;
  range.key = "later";
  const std::string payload = kv::encode(range);
  for (std::uint64_t ahead = 0; ahead < 3; ++ahead) {
    Request request = Put("", "").request(100 + ahead, group.client(), EndpointId(1));
    request.kind = RequestKind::kLocalQuery;
    set_floor(request, Slot(seen.value() + ahead));
    request.payload = payload;
    group.request(2, request);
  }
  // How many of them are answered, and that each has seen what it waited for.
  const auto answered = [&] {
    settle(group, 100);
    std::size_t queries = 0;
    for (const std::string& answer : group.answers()) {
      const auto response = decode_response(answer);
      REQUIRE(response->status == Response::Status::kOk);
      if (response->sequence < 100) continue;
      ++queries;
      REQUIRE(response->slot.value() >= seen.value() + response->sequence - 100);
      const auto found = std::get<kv::RangeResult>(kv::decode_result(response->payload)->body).kvs;
      REQUIRE(found.size() == (response->sequence == 100 ? 0 : 1));
    }
    return queries;
  };
  REQUIRE(answered() == 1);
  REQUIRE(answered() == 0);
  group.request(0, Put("later", "1").request(2, group.client(), EndpointId(1)));
  REQUIRE(answered() == 1);
  REQUIRE(answered() == 0);
  group.request(0, Put("later", "2").request(3, group.client(), EndpointId(1)));
  REQUIRE(answered() == 1);
}

TEST_CASE("local queries that wait have a bound, and those that wait for long make room") {
  FloorReads reads;
  constexpr std::uint64_t kLater = kFloorReadMs * 1'000'000;
  for (std::size_t i = 0; i < kFloorReadsMax; ++i) REQUIRE(reads.add(Slot(9), {EndpointId(3), i, "x"}, 1));
  REQUIRE(!reads.add(Slot(9), {EndpointId(3), 1, "x"}, kLater));
  REQUIRE(reads.add(Slot(9), {EndpointId(3), 1, "x"}, 1 + kLater));
  REQUIRE(reads.size() == 1);
  const std::string half(kFloorReadsBytesMax / 2, 'x');
  REQUIRE(reads.add(Slot(8), {EndpointId(3), 2, half}, 1 + kLater));
  REQUIRE(!reads.add(Slot(8), {EndpointId(3), 3, half}, 1 + kLater));
  REQUIRE(!reads.take_answerable(Slot(7)));
  REQUIRE(reads.take_answerable(Slot(8))->sequence == 2);
  REQUIRE(reads.add(Slot(8), {EndpointId(3), 3, half}, 1 + kLater));
  REQUIRE(reads.take_answerable(Slot(100))->sequence == 3);
  REQUIRE(reads.take_answerable(Slot(100))->sequence == 1);
  REQUIRE(reads.size() == 0);
}

// Asks replica 1 for `counts` counts of all keys in one transaction, with a compare before them.
std::uint64_t ask_for_counts(CoresOnOneThread& group, std::uint64_t sequence, int counts) {
  kv::RangeRequest all;
  all.key = std::string(1, '\0');
  all.range_end = std::string(1, '\0');
  all.count_only = true;
  kv::TxnRequest reads;
  kv::Compare& compare = reads.compare.emplace_back();
  compare.key = "first";
  for (int i = 0; i < counts; ++i) reads.success.emplace_back(all);
  reads.failure = reads.success;
  Request request = Put("", "").request(sequence, group.client(), EndpointId(1));
  const std::string payload = kv::encode(reads);
  request.kind = RequestKind::kLocalQuery;
  request.payload = payload;
  group.request(1, request);
  return sequence;
}

ReplicaBounds one_step_a_round() {
  ReplicaBounds bounds;
  bounds.apply_steps = 1;
  return bounds;
}

void put_keys(CoresOnOneThread& group, int keys) {
  write_first(group);
  for (int i = 0; i < keys; ++i) {
    group.request(0, Put("key-" + std::to_string(i), "").request(static_cast<std::uint64_t>(i + 2), group.client(),
                                                                EndpointId(1)));
  }
  settle(group, 100 + 4 * keys);
  REQUIRE(group.answers().size() == static_cast<std::size_t>(keys));
}

// The round's only step was taken before the query went on: it never came further, and the loop never slept.
TEST_CASE("a replica that does one step a round never answered a transaction that reads ranges") {
  CoresOnOneThread group("1paxos", 3, one_step_a_round());
  put_keys(group, 3);
  ask_for_counts(group, 100, 2);
  settle(group, 100);
  const auto answers = group.answers();
  REQUIRE(answers.size() == 1);
  CHECK(decode_response(answers.front())->status == Response::Status::kOk);
}

// It held one of kLongQueriesMax places for minutes, while its client had given up and asked again.
TEST_CASE("a transaction that reads for longer than its client waits is ended") {
  CoresOnOneThread group("1paxos", 3, one_step_a_round());
  put_keys(group, 100);
  ask_for_counts(group, 1000, 128);
  settle(group, static_cast<int>(kLongQueryMs) + 100);  // a round takes 1 ms
  const auto answers = group.answers();
  REQUIRE(answers.size() == 1);
  CHECK(decode_response(answers.front())->status == Response::Status::kBusy);
}

TEST_CASE("a round applies on when more commands wait than may") {
  ReplicaBounds bounds = one_step_a_round();
  bounds.unapplied_bytes = 0;
  CoresOnOneThread group("1paxos", 3, bounds);
  write_first(group);
  group.request(0, Put("a", "1").request(2, group.client(), EndpointId(1)));
  group.round(0);
  group.round(1);
  CHECK(group.core(1).applier().applied() == Slot(2));
  CHECK(group.answers().size() == 1);
}

// A standing query for the changes of one key from a revision on.
std::string changes_of(const std::string& key, kv::Revision from) {
  kv::EventsRequest events;
  events.from = {from, 0};
  events.bytes_max = 1000;
  events.ranges = {{key, ""}};
  return kv::encode(kv::Request(events));
}

TEST_CASE("a standing query is answered by the round that applies what it waits for, at any replica") {
  for (int asked = 0; asked < 3; ++asked) {
    CAPTURE(asked);
    CoresOnOneThread group("1paxos", 3);
    write_first(group);
    const std::string payload = changes_of("b", 3);
    Request query = Put("", "").request(9, group.client(), EndpointId(0));
    query.kind = RequestKind::kStandingQuery;
    query.payload = payload;
    group.request(asked, query);
    group.request(0, Put("a", "1").request(2, group.client(), EndpointId(1)));
    settle(group, kStandingOverdueMs / 10);  // a round of a replica takes 1 ms
    REQUIRE(group.answers().size() == 1);
    group.request(0, Put("b", "1").request(3, group.client(), EndpointId(1)));
    settle(group);
    const auto answers = group.answers();
    REQUIRE(answers.size() == 2);
    for (const std::string& bytes : answers) {
      const auto response = decode_response(bytes);
      REQUIRE(response->status == Response::Status::kOk);
      if (response->sequence != 9) continue;
      const auto result = kv::decode_result(response->payload);
      const auto& found = std::get<kv::EventsResult>(result->body);
      REQUIRE(found.events.size() == 1);
      REQUIRE(found.events[0].kv.key == "b");
      REQUIRE(found.next == kv::EventPosition{5, 0});
    }
    query.sequence = 10;
    query.payload = "nonsense";
    group.request(asked, query);
    settle(group);
    REQUIRE(decode_response(group.answers().at(0))->status == Response::Status::kRefused);
  }
}

TEST_CASE("a snapshot to start from is decoded first, and until it is in place no state of long ago is shown") {
  CoresOnOneThread group("1paxos", 3);
  settle(group);
  group.request(0, Put("a", "1").request(1, group.client(), EndpointId(1)));
  settle(group);
  group.answers();
  const std::string content = group.core(0).applier().save();
  const std::string file = snapshot_header(Slot(1), content) + content;

  kv::KvStore store;
  StableInMemory stable(EndpointId(0), Incarnation(1));
  ReplicaPage page;
  ReplicaCore::Parts parts;
  parts.protocol.agreement = make_agreement("1paxos", parts.protocol.group);
  parts.storage = {.state = &store, .stable = &stable, .keeps_snapshots = true, .snapshot = {file, nullptr}};
  parts.endpoints = 4;
  parts.page = &page;
  ReplicaCore core(std::move(parts));
  const Action* action = core.next();
  REQUIRE(action != nullptr);
  REQUIRE(action->kind == Kind::kLoadSnapshot);
  auto decoded = SnapshotLoader::decode(core.applier(), action->snapshot->file);
  REQUIRE(decoded.ok());
  core.done();
  while (core.next() != nullptr) core.done();  // its start, while the snapshot is decoded elsewhere

  const Put put("a", "2");
  Request query = put.request(2, EndpointId(3), EndpointId(0));
  query.kind = RequestKind::kLocalQuery;
  core.receive(EndpointId(3), encode(query));
  action = core.next();
  REQUIRE(action != nullptr);
  REQUIRE(action->kind == Kind::kSend);
  CHECK(decode_response(action->message.joined())->status == Response::Status::kBusy);
  core.done();

  core.snapshot_decoded(*std::move(decoded));
  CHECK(core.applier().applied() == Slot(0));
  CHECK(core.loading());
  core.begin_round(1, true);
  action = core.next();
  REQUIRE(action != nullptr);
  CHECK(action->kind == Kind::kInstallSnapshot);
  CHECK(action->slot == Slot(1));
  core.done();
  CHECK(core.applier().applied() == Slot(1));
  CHECK_FALSE(core.loading());
  CHECK(core.applier().digest() == group.core(0).applier().digest());
}

}  // namespace
}  // namespace ingot
