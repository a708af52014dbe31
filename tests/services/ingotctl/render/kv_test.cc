// Keys and values in ingotctl's tables and JSON.
#include <catch2/catch.hpp>
#include <string>

#include "services/ingotctl/render/kv.h"

namespace ingot {
namespace {

TEST_CASE("JSON keeps bytes that are not text") {
  mvccpb::KeyValue kv;
  kv.set_key("k");
  kv.set_value("\xff\x01");
  kv.set_version(3);
  CHECK(key_value_json(kv).dump() ==
        R"({"key":"k","create_revision":0,"mod_revision":0,"version":3,"lease":0,"value_base64":"/wE="})");
}

TEST_CASE("a prefix ends before the next key that does not have it") {
  CHECK(prefix_end("a") == "b");
  CHECK(prefix_end("a/") == "a0");
  CHECK(prefix_end("a\xff") == "b");
  CHECK(prefix_end("\xff\xff") == std::string(1, '\0'));
  CHECK(prefix_end("") == std::string(1, '\0'));
}

}  // namespace
}  // namespace ingot
