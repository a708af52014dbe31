#include "services/view/tickets/wait_list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace ingot {
namespace {

std::vector<WaitList::Id> ended(WaitList& list, std::size_t most = 1000) {
  std::vector<WaitList::Id> all;
  list.look(most, all);
  std::sort(all.begin(), all.end());
  return all;
}

void change(WaitList& list, const std::string& key, std::int64_t revision) {
  list.changed(key, revision);
  list.published(revision);
}

TEST_CASE("a wait ends when a key with its prefix has changed after its revision, and the view shows it") {
  WaitList list;
  list.published(5);
  list.wait(1, "a/", 5);
  list.wait(2, "b/", 5);
  list.wait(3, "", 6);
  list.changed("a/x", 6);
  CHECK(ended(list).empty());  // not published
  list.published(6);
  CHECK(ended(list) == std::vector<WaitList::Id>{1});
  change(list, "c", 7);
  CHECK(ended(list) == std::vector<WaitList::Id>{3});
  CHECK(list.size() == 1);
  CHECK_FALSE(list.to_look());
}

TEST_CASE("a wait for a change that has passed, or may have, ends; one that is ahead waits") {
  WaitList list;
  change(list, "a", 8);  // nobody waits, so it is not kept
  list.wait(1, "b", 7);
  list.wait(2, "a", 8);
  CHECK(ended(list) == std::vector<WaitList::Id>{1});
  change(list, "a1", 9);
  list.wait(3, "a", 8);
  list.wait(5, "b", 8);
  list.wait(4, "a", 20);
  CHECK(ended(list) == std::vector<WaitList::Id>{2, 3});
}

TEST_CASE("a later wait takes the place of the one before, and a forgotten one does not end") {
  WaitList list;
  list.wait(1, "a", 0);
  list.wait(1, "b", 0);
  list.wait(2, "a", 0);
  list.forget(2);
  change(list, "a", 1);
  CHECK(ended(list).empty());
  change(list, "b", 2);
  CHECK(ended(list) == std::vector<WaitList::Id>{1});
}

TEST_CASE("waits are looked at by turns, a few in a round") {
  WaitList list;
  constexpr std::size_t kWaits = 10;
  for (WaitList::Id id = 1; id <= kWaits; ++id) list.wait(id, "k", 0);
  change(list, "k", 1);
  std::vector<WaitList::Id> all;
  for (int round = 0; list.to_look(); ++round) {
    REQUIRE(round < 4);
    list.look(3, all);
  }
  CHECK(all.size() == kWaits);
}

TEST_CASE("a wait for which many changes are to be looked at is looked at in slices, and finds the last one") {
  constexpr std::int64_t kChanges = 4 * kWaitChangesPerLook;
  WaitList list;
  list.wait(1, "z", kChanges);  // so that changes are kept
  for (std::int64_t at = 1; at < kChanges; ++at) list.changed("a", at);
  change(list, "b", kChanges);
  while (list.to_look()) REQUIRE(ended(list).empty());
  list.wait(2, "b", 0);
  list.wait(3, "c", 0);
  std::vector<WaitList::Id> all;
  list.look(3, all);
  CHECK(all.empty());
  while (list.to_look()) list.look(3, all);
  CHECK(all == std::vector<WaitList::Id>{2});
  CHECK(list.size() == 2);
}

TEST_CASE("changes that were not told, and more than are kept, end the waits from before them") {
  WaitList list;
  list.wait(1, "a", 3);
  list.wait(2, "a", 30);
  list.missed(10);
  list.published(10);
  CHECK(ended(list) == std::vector<WaitList::Id>{1});
  for (std::int64_t i = 0; i <= static_cast<std::int64_t>(kWaitChangesMax); ++i) list.changed("b", 40 + i);
  list.published(40 + static_cast<std::int64_t>(kWaitChangesMax));
  CHECK(ended(list) == std::vector<WaitList::Id>{2});  // its list has lost one that may have been an "a"
}

}  // namespace
}  // namespace ingot
