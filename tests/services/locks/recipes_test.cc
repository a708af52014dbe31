// The names of keys of locks and elections: those of etcd's own clients.
#include <catch2/catch.hpp>

#include <limits>

#include "replication/store/kv_store.h"
#include "services/locks/recipes.h"
#include "tests/replication/store/helpers.h"

namespace ingot::locks {
namespace {

TEST_CASE("A key is the name and the lease in hexadecimal, as Go prints it") {
  CHECK(key_of("a", 0x694d77aa9e38260f) == "a/694d77aa9e38260f");
  CHECK(key_of("", 10) == "/a");
  CHECK(key_of("a/b", -5) == "a/b/-5");
  CHECK(key_of("a", std::numeric_limits<std::int64_t>::min()) == "a/-8000000000000000");
}

TEST_CASE("A lock's keys are those that begin with its name and a slash") {
  const kv::RangeRequest all = first_of(prefix_of("a"));
  CHECK(all.key == "a/");
  CHECK(all.range_end == "a0");
}

bool there(const kv::KvStore& store, const std::string& key) {
  return !std::get<kv::RangeResult>(kv::ask(store, kv::range_of(key)).body).kvs.empty();
}

// Regression: a call that was given up took the key away that another call with its lease had got the lock with.
TEST_CASE("A key that has become the first one does not leave, and another does") {
  kv::KvStore store;
  kv::run(store, kv::put_of("b/0", ""));
  const kv::Revision first = kv::run(store, kv::put_of("a/1", "")).revision;
  const kv::Revision second = kv::run(store, kv::put_of("a/2", "")).revision;
  kv::run(store, kv::put_of("a/1", "again"));
  kv::run(store, leave_unless_first("a/", "a/1", first));
  CHECK(there(store, "a/1"));
  kv::run(store, leave_unless_first("a/", "a/2", second - 1));  // another key of that name
  CHECK(there(store, "a/2"));
  kv::run(store, leave_unless_first("a/", "a/2", second));
  CHECK(!there(store, "a/2"));
  kv::run(store, leave("a/1", first));
  CHECK(!there(store, "a/1"));
  CHECK(there(store, "b/0"));
}

}  // namespace
}  // namespace ingot::locks
