// Which ranges take their turn as large calls.
#include <catch2/catch.hpp>

#include <string>

#include "proto/etcd/rpc.pb.h"
#include "services/etcd/range_call.h"

namespace ingot::etcd {
namespace {

etcdserverpb::RangeRequest range(const std::string& key, const std::string& end) {
  etcdserverpb::RangeRequest request;
  request.set_key(key);
  request.set_range_end(end);
  return request;
}

TEST_CASE("only what asks for several keys is large, and not if it asks for their number") {
  CHECK_FALSE(may_be_large(range("k", "").SerializeAsString()));
  CHECK(may_be_large(range("k", "l").SerializeAsString()));
  auto limited = range("k", std::string(1, '\0'));
  limited.set_limit(1);
  limited.set_serializable(true);
  CHECK(may_be_large(limited.SerializeAsString()));
  auto counted = range("k", "l");
  counted.set_count_only(true);
  CHECK_FALSE(may_be_large(counted.SerializeAsString()));
}

TEST_CASE("a field that says the opposite of its name counts as what it says, and malformed bytes are not large") {
  const std::string not_counted("\x48\x00", 2);  // count_only: false, which encoders leave out
  CHECK(may_be_large(range("k", "l").SerializeAsString() + not_counted));
  CHECK_FALSE(may_be_large("\x12"));
  CHECK_FALSE(may_be_large("\xff\xff\xff"));
  CHECK_FALSE(may_be_large(""));
}

}  // namespace
}  // namespace ingot::etcd
