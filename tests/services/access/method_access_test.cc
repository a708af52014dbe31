// The table of methods has every method of every service that Ingot defines: a new one fails this test until it is
// decided who may call it.
#include "services/access/method_access.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace ingot {
namespace {

// Methods of gRPC's own whose definitions are not in this repository. A daemon test compares them with what
// reflection lists.
const std::set<std::string> kOfGrpc{"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};

void add_methods(const std::filesystem::path& file, std::set<std::string>& all) {
  static const std::regex package(R"(^package ([\w.]+);.*)"), service(R"(^service (\w+) \{.*)"),
      method(R"(^\s+rpc (\w+)\(.*)");
  std::ifstream in(file);
  std::string line, in_package, in_service;
  for (std::smatch found; std::getline(in, line);) {
    if (std::regex_match(line, found, package)) in_package = found[1];
    if (std::regex_match(line, found, service)) in_service = found[1];
    if (std::regex_match(line, found, method)) all.insert("/" + in_package + "." + in_service + "/" + found[1].str());
  }
}

std::set<std::string> defined_methods() {
  std::set<std::string> all;
  for (const auto& each : std::filesystem::recursive_directory_iterator("proto")) {
    if (each.path().extension() == ".proto") add_methods(each.path(), all);
  }
  return all;
}

TEST_CASE("every method that is defined has one row in the table, and every row is a method") {
  std::set<std::string> expected = defined_methods();
  CHECK(expected.contains("/etcdserverpb.KV/Put"));
  CHECK(expected.contains("/ingot.control.v1.Control/Drill"));
  expected.insert(kOfGrpc.begin(), kOfGrpc.end());
  std::set<std::string> rows;
  for (const MethodAccess& each : method_accesses()) {
    INFO(each.path);
    CHECK(rows.insert(std::string(each.path)).second);
    CHECK_FALSE(each.why.empty());
  }
  CHECK(rows == expected);
}

TEST_CASE("what kills, stops or moves is the owner's; keys and status are open") {
  CHECK(needs_owner("/ingot.control.v1.Control/Drill"));
  CHECK(needs_owner("/ingot.control.v1.Control/Move"));
  CHECK(needs_owner("/etcdserverpb.Maintenance/MoveLeader"));
  for (const char* each : {"/etcdserverpb.KV/Put", "/etcdserverpb.Maintenance/Status", "/grpc.health.v1.Health/Check",
                           "/ingot.control.v1.Control/GetStatus", "/ingot.control.v1.Control/Nothing", "", "/"}) {
    CAPTURE(each);
    CHECK_FALSE(needs_owner(each));
  }
}

// A service refuses them to every caller, in etcd's or its own words, which a client shall go on to see.
TEST_CASE("a method that no service carries out yet passes the gate") {
  std::size_t later = 0;
  for (const MethodAccess& each : method_accesses()) {
    if (each.carried_out) continue;
    ++later;
    CHECK_FALSE(needs_owner(each.path));
  }
  CHECK(later > 0);
}

}  // namespace
}  // namespace ingot
