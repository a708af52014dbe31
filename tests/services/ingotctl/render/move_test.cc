// Moves as text and JSON.
#include <catch2/catch.hpp>

#include "services/ingotctl/render/move.h"
#include "tests/services/ingotctl/role_example.h"

namespace ingot {
namespace {

using control_v1::GetStatusResponse;

TEST_CASE("a move's JSON names the holder in the end, or none if the verb did not wait") {
  GetStatusResponse status = group();
  MoveWatch watch(control_v1::ROLE_LEADER, 2, 5);
  give(status, 2, control_v1::ROLE_LEADER, 6);
  watch.observe(status);
  control_v1::MoveResponse begun;
  begun.set_asked(2);
  CHECK(move_json("leader", 2, begun, &watch) ==
        R"({"role":"leader","to":2,"asked":2,"done":true,"holder":2,"epoch":1,"ballot":6})");
  CHECK(move_json("leader", 2, begun, nullptr) ==
        R"({"role":"leader","to":2,"asked":2,"done":null,"holder":null,"epoch":null,"ballot":null})");
}

TEST_CASE("a move's text names the role's holder, its epoch and its ballot") {
  GetStatusResponse status = group();
  MoveWatch watch(control_v1::ROLE_ACCEPTOR, 2, 5);
  CHECK(holder_text(watch, "leader") == "nobody leads");
  CHECK(holder_text(watch, "acceptor") == "nobody is the acceptor");
  give(status, 2, control_v1::ROLE_ACCEPTOR, 6);
  watch.observe(status);
  CHECK(holder_text(watch, "acceptor") == "replica 2 is the acceptor (epoch 1, ballot 6)");
  MoveWatch done(control_v1::ROLE_ACCEPTOR, 2, std::nullopt);
  done.observe(status);
  CHECK(holder_text(done, "acceptor") == "replica 2 is the acceptor already (epoch 1, ballot 6)");
}

}  // namespace
}  // namespace ingot
