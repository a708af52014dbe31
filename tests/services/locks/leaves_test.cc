// Keys of calls that have ended are asked for until the replicas have taken them away.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include "replication/client/replica_client.h"
#include "replication/store/kv_store.h"
#include "services/locks/leaves.h"
#include "services/locks/limits.h"
#include "services/locks/recipes.h"
#include "tests/replication/store/helpers.h"

namespace ingot::locks {
namespace {

constexpr std::uint64_t kAgainNs = kLeaveAgainMs * 1'000'000;

// One store, and before its answers some errors.
class Replicas final : public ReplicaClient {
 public:
  void submit(RequestKind, std::string payload, Callback callback, EndpointId) override {
    ++asked;
    if (errors > 0) {
      --errors;
      return callback({ReplicaReply::Outcome::kUnknown, Slot(), ""});
    }
    const std::string result = store.apply(Slot(0), payload);
    callback({ReplicaReply::Outcome::kOk, Slot(1), result});
  }

  kv::KvStore store;
  int errors = 0;
  int asked = 0;
};

// Regression: one error, such as while no replica led, left a key in the way of all behind it until its lease ended.
TEST_CASE("After an error a leave is asked for again, a while later, until it is done") {
  Replicas replicas;
  const kv::Revision created = kv::run(replicas.store, kv::put_of("a/1", "")).revision;
  Leaves leaves(replicas);
  CHECK(leaves.deadline_ns() == Pollable::kNever);
  replicas.errors = 2;
  leaves.add(leave("a/1", created));
  CHECK(replicas.asked == 1);
  std::uint64_t now_ns = 1000;
  for (int asked = 1; asked <= 2; ++asked) {
    CHECK(leaves.deadline_ns() <= now_ns);
    CHECK(leaves.poll(now_ns) == 0);
    CHECK(leaves.deadline_ns() == now_ns + kAgainNs);
    CHECK(leaves.poll(now_ns + kAgainNs - 1) == 0);
    CHECK(replicas.asked == asked);
    now_ns += kAgainNs;
    CHECK(leaves.poll(now_ns) == 1);
    CHECK(replicas.asked == asked + 1);
  }
  CHECK(leaves.deadline_ns() == Pollable::kNever);
  CHECK(std::get<kv::RangeResult>(kv::ask(replicas.store, kv::range_of("a/1")).body).kvs.empty());
}

TEST_CASE("Leaves have bounds, and none is asked for after the stop") {
  Replicas replicas;
  replicas.errors = 1'000'000;
  Leaves leaves(replicas);
  leaves.add(leave("a/1", 2));
  std::uint64_t now_ns = 1000;
  while (leaves.deadline_ns() != Pollable::kNever) leaves.poll(now_ns += kAgainNs);
  CHECK(replicas.asked == kLeaveTriesMax);
  replicas.asked = 0;
  for (std::size_t i = 0; i < kLeavesMax + 1; ++i) leaves.add(leave("a/1", 2));
  CHECK(replicas.asked == static_cast<int>(kLeavesMax) + 1);
  leaves.poll(now_ns);
  CHECK(leaves.poll(now_ns + kAgainNs) == static_cast<int>(kLeavesMax));
  leaves.stop();
  CHECK(leaves.deadline_ns() == Pollable::kNever);
}

}  // namespace
}  // namespace ingot::locks
