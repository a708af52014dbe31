// HashKV over many parts: one hash, of one state, whatever happens in between.
#include <catch2/catch.hpp>

#include <atomic>
#include <string>

#include "services/etcd/limits.h"
#include "tests/services/etcd/in_process_server.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;
constexpr int kKeys = 9'000;

class HashFixture {
 public:
  HashFixture() {
    for (int i = 0; i < kKeys; ++i) put(i, "a");
  }

  void put(int i, const std::string& value) {
    server.client.apply(kv::PutRequest{.key = "key/" + std::to_string(i), .value = value});
  }
  grpc::Status hash(kv::Revision revision = 0) {
    grpc::ClientContext context;
    pb::HashKVRequest request;
    request.set_revision(revision);
    response.Clear();
    return stub->HashKV(&context, request, &response);
  }
  std::uint32_t whole_hash(kv::Revision revision = 0) {
    const kv::HashRequest whole{.revision = revision};
    const std::string answer = server.client.leader().query(kv::encode(kv::Request(whole)));
    return kv::fold_hash(std::get<kv::HashResult>(kv::decode_result(answer)->body).sum);
  }

  InProcessServer server;
  std::unique_ptr<pb::Maintenance::Stub> stub = pb::Maintenance::NewStub(server.connect());
  pb::HashKVResponse response;
};

TEST_CASE_METHOD(HashFixture, "The hash is that of the first part's revision, whatever is written in between") {
  const std::uint32_t expected = whole_hash();
  const kv::Revision revision = server.client.leader().revision();
  std::atomic<int> parts = 0;
  server.client.set_interloper([&](RequestKind) {
    if (++parts > 1) put(parts, "written in between");
  });
  REQUIRE(hash().ok());
  CHECK(response.hash() == expected);
  CHECK(response.header().revision() == revision);
  CHECK(response.hash_revision() == revision);
  CHECK(response.compact_revision() == -1);
  CHECK(parts > 3);
}

TEST_CASE_METHOD(HashFixture, "A hash that a compaction overtakes begins again") {
  std::atomic<int> parts = 0;
  server.client.set_interloper([&](RequestKind) {
    if (++parts != 3) return;
    put(3, "d");
    server.client.apply(kv::CompactRequest{server.client.leader().revision()});
    put(3, "e");
  });
  REQUIRE(hash().ok());
  server.client.set_interloper({});
  CHECK(response.hash() == whole_hash());
  CHECK(response.compact_revision() == server.client.leader().compact_revision());
  CHECK(response.header().revision() == server.client.leader().revision());
}

TEST_CASE_METHOD(HashFixture, "The newest revision is hashed also if it is the compacted one") {
  server.client.apply(kv::CompactRequest{server.client.leader().revision()});
  REQUIRE(hash().ok());
  CHECK(response.hash() == whole_hash());
}

TEST_CASE_METHOD(HashFixture, "The revision that a hash is of was 0 when the newest was asked for") {
  REQUIRE(hash().ok());
  CHECK(response.hash_revision() == server.client.leader().revision());
  REQUIRE(hash(7).ok());
  CHECK(response.hash_revision() == 7);
  CHECK(response.header().revision() == server.client.leader().revision());
}

TEST_CASE_METHOD(HashFixture, "A hash that compactions always overtake gives up") {
  std::atomic<int> beginnings = 0;
  server.client.set_interloper([&](RequestKind kind) {
    if (kind == RequestKind::kLinearizableQuery) {
      ++beginnings;
      return;
    }
    put(3, "d");
    server.client.apply(kv::CompactRequest{server.client.leader().revision()});
  });
  CHECK(hash().error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(beginnings >= kReadRestartsMax + 1);
}

}  // namespace
}  // namespace ingot
