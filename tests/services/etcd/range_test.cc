// Ranges longer than one page: complete and of one revision, whatever happens between the pages.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replication/store/limits.h"
#include "services/etcd/limits.h"
#include "tests/services/etcd/in_process_server.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;
using Model = std::map<std::string, std::string>;

constexpr int kKeys = 500;
constexpr std::size_t kValueBytes = 10 * 1024;  // about five pages

std::string key_of(int i) { return "key/" + std::to_string(100000 + i); }
std::string value_of(int i, char salt) { return std::string(kValueBytes, salt) + std::to_string(i * 7919 % kKeys); }

void put(LocalReplicaClient& client, Model& model, int i, char salt) {
  const kv::Result result = client.apply(kv::PutRequest{.key = key_of(i), .value = value_of(i, salt)});
  REQUIRE(result.code == kv::Code::kOk);
  model[key_of(i)] = value_of(i, salt);
}

class RangeFixture {
 public:
  RangeFixture() {
    for (int i = 0; i < kKeys; ++i) put(server.client, model, i, 'a');
    everything.set_key("key/");
    everything.set_range_end("key0");
  }

  grpc::Status range(const pb::RangeRequest& request) {
    grpc::ClientContext context;
    response.Clear();
    return stub->Range(&context, request, &response);
  }

  void check_response_is(const Model& expected) const {
    REQUIRE(response.kvs_size() == static_cast<int>(expected.size()));
    int i = 0;
    for (const auto& [key, value] : expected) {
      REQUIRE(response.kvs(i).key() == key);
      REQUIRE(response.kvs(i).value() == value);
      ++i;
    }
    CHECK(response.count() == static_cast<std::int64_t>(expected.size()));
    CHECK_FALSE(response.more());
  }

  InProcessServer server;
  std::unique_ptr<pb::KV::Stub> stub = pb::KV::NewStub(server.connect());
  Model model;
  pb::RangeRequest everything;
  pb::RangeResponse response;
};

TEST_CASE_METHOD(RangeFixture, "A range of many pages arrives whole and in order") {
  int pages = 0;
  server.client.set_interloper([&](RequestKind) { ++pages; });
  REQUIRE(range(everything).ok());
  check_response_is(model);
  CHECK(pages >= 4);
  CHECK(response.header().revision() == server.client.leader().revision());
  CHECK(response.header().cluster_id() == 12);
  CHECK(response.header().member_id() == 34);
  CHECK(response.header().raft_term() >= 1);
}

TEST_CASE_METHOD(RangeFixture, "A limit counts over all pages") {
  everything.set_limit(kKeys - 10);
  REQUIRE(range(everything).ok());
  CHECK(response.kvs_size() == kKeys - 10);
  CHECK(response.more());
  CHECK(response.count() == kKeys);
}

TEST_CASE_METHOD(RangeFixture, "Pages keep the order of a sort") {
  everything.set_sort_target(pb::RangeRequest::VALUE);
  everything.set_sort_order(pb::RangeRequest::DESCEND);
  REQUIRE(range(everything).ok());
  REQUIRE(response.kvs_size() == kKeys);
  CHECK(std::is_sorted(response.kvs().rbegin(), response.kvs().rend(),
                       [](const auto& a, const auto& b) { return a.value() < b.value(); }));
}

TEST_CASE_METHOD(RangeFixture, "A sort with a limit gives the best of all pages") {
  everything.set_sort_target(pb::RangeRequest::VALUE);
  everything.set_sort_order(pb::RangeRequest::DESCEND);
  everything.set_limit(7);
  REQUIRE(range(everything).ok());
  std::vector<std::string> values;
  for (const auto& [key, value] : model) values.push_back(value);
  std::sort(values.rbegin(), values.rend());
  REQUIRE(response.kvs_size() == 7);
  for (int i = 0; i < 7; ++i) CHECK(response.kvs(i).value() == values[static_cast<std::size_t>(i)]);
  CHECK(response.more());
  CHECK(response.count() == kKeys);
}

// As etcd: it takes one more than the limit by key, sorts them, and leaves out the last.
TEST_CASE_METHOD(RangeFixture, "A sort target without an order sorts what the limit has chosen by key") {
  constexpr int kLimit = kKeys - 10;
  everything.set_sort_target(pb::RangeRequest::VALUE);
  everything.set_limit(kLimit);
  REQUIRE(range(everything).ok());
  std::vector<std::string> values;
  for (int i = 0; i <= kLimit; ++i) values.push_back(model.at(key_of(i)));
  std::sort(values.begin(), values.end());
  REQUIRE(response.kvs_size() == kLimit);
  for (int i = 0; i < kLimit; ++i) CHECK(response.kvs(i).value() == values[static_cast<std::size_t>(i)]);
  CHECK(response.more());
  CHECK(response.count() == kKeys);
}

TEST_CASE_METHOD(RangeFixture, "Keys alone, sorted by their values, have the order of the values") {
  everything.set_sort_target(pb::RangeRequest::VALUE);
  everything.set_keys_only(true);
  REQUIRE(range(everything).ok());
  REQUIRE(response.kvs_size() == kKeys);
  for (int i = 0; i < kKeys; ++i) CHECK(response.kvs(i).value().empty());
  for (int i = 1; i < kKeys; ++i) REQUIRE(model.at(response.kvs(i - 1).key()) <= model.at(response.kvs(i).key()));
}

TEST_CASE_METHOD(RangeFixture, "A sort with a limit holds little more than its results") {
  for (int i = 0; i < 200; ++i) {
    server.client.apply(kv::PutRequest{.key = "large/" + key_of(i), .value = std::string(1024 * 1024, 'v')});
  }
  everything.set_key("large/");
  everything.set_range_end("large0");
  everything.set_sort_order(pb::RangeRequest::DESCEND);
  everything.set_limit(1);
  REQUIRE(range(everything).ok());
  REQUIRE(response.kvs_size() == 1);
  CHECK(response.kvs(0).key() == "large/" + key_of(199));
  CHECK(response.count() == 200);
}

// The largest key and values, so that one page ends with a large value and names a large key as the next one's begin.
TEST_CASE("Pages between the largest keys and values fit their messages") {
  InProcessServer server;
  const std::string large_key = "c" + std::string(kRequestBytesMax - 100, 'k');
  server.client.apply(kv::PutRequest{.key = "a", .value = std::string(kPageBytesMax - 50, 'v')});
  server.client.apply(kv::PutRequest{.key = "b", .value = std::string(kRequestBytesMax - 100, 'v')});
  server.client.apply(kv::PutRequest{.key = large_key, .value = "v"});
  server.client.apply(kv::PutRequest{.key = "d", .value = "v"});
  server.client.set_interloper([&](RequestKind) {});
  auto stub = pb::KV::NewStub(server.connect());
  pb::RangeRequest request;
  request.set_key("a");
  request.set_range_end("e");
  pb::RangeResponse response;
  grpc::ClientContext context;
  REQUIRE(stub->Range(&context, request, &response).ok());
  REQUIRE(response.kvs_size() == 4);
  CHECK(response.kvs(2).key() == large_key);
  grpc::ClientContext hash_context;
  pb::HashKVResponse hash;
  CHECK(pb::Maintenance::NewStub(server.connect())->HashKV(&hash_context, {}, &hash).ok());
}

TEST_CASE("A count, a range of keys and a sort of thousands of keys are asked for in steps") {
  InProcessServer server;
  constexpr int kMany = 9'000;
  for (int i = 0; i < kMany; ++i) server.client.apply(kv::PutRequest{.key = key_of(i), .value = std::to_string(i)});
  auto stub = pb::KV::NewStub(server.connect());
  std::atomic<int> steps = 0;
  server.client.set_interloper([&](RequestKind) { ++steps; });
  pb::RangeRequest request;
  request.set_key("key/");
  request.set_range_end("key0");
  const auto range = [&] {
    steps = 0;
    grpc::ClientContext context;
    pb::RangeResponse response;
    REQUIRE(stub->Range(&context, request, &response).ok());
    CHECK(response.count() == kMany);
    CHECK(steps == 2 + (kMany - static_cast<int>(kFirstStepEntries) - 1) / static_cast<int>(kStepEntriesMax));
    return response;
  };
  request.set_count_only(true);
  CHECK(range().kvs_size() == 0);
  request.set_count_only(false);
  request.set_limit(1);
  CHECK(range().kvs(0).key() == key_of(0));
  request.set_sort_order(pb::RangeRequest::ASCEND);
  const pb::RangeResponse oldest = range();
  REQUIRE(oldest.kvs_size() == 1);
  CHECK(oldest.kvs(0).key() == key_of(0));
  CHECK(oldest.more());
  request.set_sort_order(pb::RangeRequest::DESCEND);
  const pb::RangeResponse newest = range();
  REQUIRE(newest.kvs_size() == 1);
  CHECK(newest.kvs(0).key() == key_of(kMany - 1));
  CHECK(newest.more());
  request.set_limit(0);
  request.set_sort_target(pb::RangeRequest::MOD);
  const pb::RangeResponse all = range();
  REQUIRE(all.kvs_size() == kMany);
  for (int i = 0; i < kMany; ++i) REQUIRE(all.kvs(i).key() == key_of(kMany - 1 - i));
}

TEST_CASE_METHOD(RangeFixture, "All pages are of the first one's revision, whatever is written in between") {
  int pages = 0;
  server.client.set_interloper([&](RequestKind) {
    if (pages++ == 0) return;
    Model ignored;
    for (int i = 0; i < kKeys; i += 3) put(server.client, ignored, i, 'b');
    server.client.apply(kv::DeleteRangeRequest{.key = key_of(kKeys - 1 - pages), .range_end = ""});
  });
  const kv::Revision before = server.client.leader().revision();
  REQUIRE(range(everything).ok());
  check_response_is(model);
  CHECK(response.header().revision() == before);
  CHECK(pages >= 4);
}

TEST_CASE_METHOD(RangeFixture, "A replica that lags behind the first page's revision is passed over") {
  server.client.hold_followers(true);
  put(server.client, model, 3, 'c');
  int linearizable = 0;
  server.client.set_interloper([&](RequestKind kind) { linearizable += kind == RequestKind::kLinearizableQuery; });
  REQUIRE(range(everything).ok());
  check_response_is(model);
  CHECK(linearizable >= 4);
}

TEST_CASE_METHOD(RangeFixture, "A serializable range is the nearest replica's state, even if it is old") {
  const Model before = model;
  server.client.hold_followers(true);
  put(server.client, model, 3, 'c');
  everything.set_serializable(true);
  REQUIRE(range(everything).ok());
  check_response_is(before);
}

TEST_CASE_METHOD(RangeFixture, "A range that a compaction overtakes begins again") {
  int pages = 0;
  server.client.set_interloper([&](RequestKind) {
    if (++pages != 3) return;
    put(server.client, model, 3, 'd');
    server.client.apply(kv::CompactRequest{server.client.leader().revision()});
  });
  REQUIRE(range(everything).ok());
  check_response_is(model);
  CHECK(response.header().revision() == server.client.leader().revision());
}

TEST_CASE_METHOD(RangeFixture, "A range that compactions always overtake gives up") {
  std::atomic<int> beginnings = 0;
  server.client.set_interloper([&](RequestKind kind) {
    if (kind == RequestKind::kLinearizableQuery) {
      ++beginnings;
      return;
    }
    put(server.client, model, 3, 'd');
    server.client.apply(kv::CompactRequest{server.client.leader().revision()});
  });
  const grpc::Status status = range(everything);
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(beginnings == kReadRestartsMax + 1);
}

TEST_CASE_METHOD(RangeFixture, "A range at a revision that is compacted between two pages says so") {
  everything.set_revision(server.client.leader().revision());
  int pages = 0;
  server.client.set_interloper([&](RequestKind) {
    if (++pages != 2) return;
    put(server.client, model, 3, 'd');
    server.client.apply(kv::CompactRequest{server.client.leader().revision()});
  });
  const grpc::Status status = range(everything);
  CHECK(status.error_code() == grpc::StatusCode::OUT_OF_RANGE);
  CHECK(status.error_message() == "etcdserver: mvcc: required revision has been compacted");
}

TEST_CASE("An answer over the bound is refused, and asking for less helps") {
  InProcessServer server;
  const std::size_t value_bytes = kRequestBytesMax - 1024;
  const auto keys = static_cast<int>(kRangeBytesMax / value_bytes) + 1;
  for (int i = 0; i < keys; ++i) {
    server.client.apply(kv::PutRequest{.key = key_of(i), .value = std::string(value_bytes, 'x')});
  }
  auto stub = pb::KV::NewStub(server.connect());
  pb::RangeRequest request;
  request.set_key("key/");
  request.set_range_end("key0");
  pb::RangeResponse response;
  {
    grpc::ClientContext context;
    const grpc::Status status = stub->Range(&context, request, &response);
    CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(status.error_message().find("use limit") != std::string::npos);
  }
  grpc::ClientContext context;
  request.set_limit(2);
  REQUIRE(stub->Range(&context, request, &response).ok());
  CHECK(response.kvs_size() == 2);
  CHECK(response.more());
}

}  // namespace
}  // namespace ingot
