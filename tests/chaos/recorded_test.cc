// The recorder's own checkers refuse wrong histories, made by hand.
#include <catch2/catch.hpp>

#include "tests/chaos/recorded.h"

using namespace ingot::chaos;

namespace {

Recorded put(std::uint32_t written, std::uint64_t called_ns, std::uint64_t answered_ns, std::int64_t revision) {
  Recorded operation;
  operation.kind = Recorded::Kind::kPut;
  operation.key = "k";
  operation.written = written;
  operation.called_ns = called_ns;
  operation.answered_ns = answered_ns;
  operation.revision = revision;
  return operation;
}

Recorded get(std::uint32_t found, std::uint64_t called_ns, std::uint64_t answered_ns) {
  Recorded operation;
  operation.key = "k";
  operation.found = found;
  operation.called_ns = called_ns;
  operation.answered_ns = answered_ns;
  return operation;
}

}  // namespace

TEST_CASE("A correct history passes") {
  const Records records{put(1, 10, 20, 2), put(2, 15, 40, 3), get(2, 41, 50), put(3, 60, kOpen, 0), get(3, 90, 95)};
  CHECK(find_revision_violation(records).empty());
  CHECK(find_order_violation(records).empty());
}

TEST_CASE("A lost write and a stale read are refused") {
  CHECK_FALSE(find_order_violation({put(1, 10, 20, 2), put(2, 30, 40, 3), get(1, 50, 60)}).empty());
  CHECK_FALSE(find_order_violation({put(1, 10, 20, 2), get(0, 50, 60)}).empty());
  CHECK_FALSE(find_order_violation({put(1, 10, 20, 2), get(kNobodysValue, 50, 60)}).empty());
}

TEST_CASE("Revisions that do not grow with time are refused") {
  CHECK_FALSE(find_revision_violation({put(1, 10, 20, 2), put(2, 30, 40, 2)}).empty());
  CHECK_FALSE(find_revision_violation({put(1, 10, 20, 3), put(2, 30, 40, 2)}).empty());
  CHECK(find_revision_violation({put(1, 10, 35, 3), put(2, 30, 40, 2)}).empty());
}

TEST_CASE("The longest gap is between two acknowledged writes") {
  CHECK(gap_ms_max({put(1, 0, 1'000'000, 2), put(2, 0, 9'000'000, 3), put(3, 0, kOpen, 0)}) == Approx(8.0));
}

TEST_CASE("An open operation has no answer on its line") {
  CHECK(to_json_line(put(7, 1, kOpen, 0)).find("answered_ns") == std::string::npos);
  CHECK(to_json_line(put(7, 1, 2, 9)).find("\"answered_ns\":2") != std::string::npos);
}
