// What handles answer, wait for, refuse and ask, case by case, over boards and generations in memfds.
#include "replication/view/handle/handle.h"

#include <fcntl.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/replication/view/handle/small_view.h"
#include "tests/transport/host/child.h"

namespace ingot::test {
namespace {

constexpr ViewDemands kNoWait{.wait_ms = 0};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string value(ViewHandle& handle, std::string_view key) {
  ViewAnswer answer;
  const ViewError error = handle.get(key, answer);
  if (error != ViewError::kNone) return enum_names(error)[static_cast<std::size_t>(error)];
  return answer.empty() ? "no such key" : std::string(answer[0].value);
}

// Reads until it holds; the test's time limit ends what does not come.
template <typename Holds>
void until(ViewHandle& handle, const Holds& holds) {
  while (!holds()) {
    value(handle, "a");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("a handle reads keys, ranges, counts and changes in place") {
  SmallView view;
  view.publish(5, {{"a", "1"}, {"b", "2"}, {"ba", "3"}, {"c", "4"}});
  ViewHandle handle(view.tickets(), {}, 1);
  CHECK(handle.revision() == 0);
  CHECK(value(handle, "b") == "2");
  CHECK(value(handle, "x") == "no such key");
  CHECK(handle.revision() == 5);
  CHECK(handle.identity() == 77);
  CHECK(handle.generation() == 1);
  ViewAnswer answer;
  const std::vector<std::string_view> keys{"c", "nothing", "a"};
  std::uint64_t all = 0;
  REQUIRE(handle.range({.begin = "b", .limit = 1}, answer, all) == ViewError::kNone);
  CHECK((answer.size() == 1 && answer[0].key == "b" && answer.more() && all == 3));
  REQUIRE(handle.get_several(keys, answer) == ViewError::kNone);
  REQUIRE(answer.size() == 2);
  CHECK(answer[0].key == "c");
  CHECK(answer[1].value == "1");
  REQUIRE(handle.prefix("b", answer) == ViewError::kNone);
  CHECK(answer.size() == 2);
  REQUIRE(handle.range({.begin = "b", .end = "c", .limit = 1}, answer) == ViewError::kNone);
  CHECK(answer.size() == 1);
  CHECK(answer.more());
  std::uint64_t count = 0;
  REQUIRE(handle.count("b", "", count) == ViewError::kNone);
  CHECK(count == 3);
  view.publish(6, {{"b", ""}});
  REQUIRE(handle.changes(5, answer) == ViewError::kNone);
  REQUIRE(answer.size() == 1);
  CHECK(answer[0].key == "b");
  CHECK(handle.revision() == 6);
  CHECK(handle.changes(4, answer) == ViewError::kTooOld);
  CHECK(handle.counts().tickets == 1);
  CHECK(handle.counts().moves == 1);
}

TEST_CASE("without a view a read says so, and a handle finds the view that comes later") {
  SmallView view;
  view.away = true;
  ViewHandle handle(view.tickets(), kNoWait, 1);
  CHECK(value(handle, "a") == "no_view");
  CHECK(handle.wait_for(0, 0) == ViewError::kNoView);
  CHECK(!handle.age_ms());
  CHECK(handle.board() == nullptr);
  view.publish(1, {{"a", "1"}});
  view.away = false;
  handle.set_demands({.wait_ms = 60'000});
  CHECK(value(handle, "a") == "1");
}

TEST_CASE("a read waits for the revision of a write, until its deadline") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), {.wait_ms = 5}, 1);
  handle.require(7);
  CHECK(value(handle, "a") == "behind");
  CHECK(handle.wait_for(5, 0) == ViewError::kNone);
  view.publish(6, {{"a", "2"}});
  CHECK(handle.wait_for(7, 1) == ViewError::kBehind);
  handle.set_demands({.wait_ms = 60'000});
  std::thread publishes([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    view.publish(7, {{"a", "3"}});
  });
  CHECK(value(handle, "a") == "3");
  publishes.join();
  CHECK(handle.revision() == 7);
}

TEST_CASE("a handle moves on to the generation that is named, and reads the one before until then") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), kNoWait, 1);
  handle.wait_for(0, 60'000);
  view.next_generation();
  view.publish(6, {{"a", "2"}});
  view.name();
  CHECK(value(handle, "a") != "no_view");
  until(handle, [&] { return handle.generation() == 2; });
  CHECK(value(handle, "a") == "2");
  CHECK(handle.counts().moves == 2);
}

TEST_CASE("a generation that is marked gone is left for a fresh ticket") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), {.wait_ms = 60'000}, 1);
  CHECK(value(handle, "a") == "1");
  view.mark_gone_and_punch();
  view.next_generation();
  view.publish(6, {{"a", "2"}});
  view.name();
  CHECK(value(handle, "a") == "2");
}

TEST_CASE("a handle never goes back in time, whatever generation it is given") {
  SmallView view;
  view.publish(9, {{"a", "9"}});
  ViewHandle handle(view.tickets(), kNoWait, 1);
  CHECK(handle.wait_for(9, 60'000) == ViewError::kNone);
  view.next_generation();
  view.publish(7, {{"a", "7"}});  // no supervisor names it yet; this one does
  view.name();
  for (int i = 0; i < 100; ++i) {
    CHECK(value(handle, "a") == "9");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(handle.generation() == 1);
  view.publish(9, {{"a", "9"}});
  view.publish(10, {{"a", "10"}});
  until(handle, [&] { return handle.generation() == 2; });
  CHECK(value(handle, "a") == "10");
}

TEST_CASE("when all that is left is behind, a read says so instead of going back") {
  SmallView view;
  view.publish(9, {{"a", "9"}});
  ViewHandle handle(view.tickets(), {.wait_ms = 100}, 1);
  CHECK(value(handle, "a") == "9");
  view.mark_gone_and_punch();
  view.next_generation();
  view.publish(7, {{"a", "7"}});
  view.name();
  std::string last;
  until(handle, [&] { return (last = value(handle, "a")) == "behind"; });
  view.publish(9, {{"a", "9"}});
  CHECK(value(handle, "a") == "9");
}

TEST_CASE("another instance's state is an error, and stays one") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), {.wait_ms = 60'000}, 1);
  CHECK(value(handle, "a") == "1");
  view.mark_gone_and_punch();
  view.next_board(78);
  view.next_generation();
  view.publish(50, {{"a", "2"}});
  view.name();
  CHECK(value(handle, "a") == "another_instance");
  CHECK(value(handle, "a") == "another_instance");
  CHECK(handle.wait_for(0, 0) == ViewError::kAnotherInstance);
  ViewHandle other(view.tickets(), {.wait_ms = 60'000}, 1);
  CHECK(value(other, "a") == "2");
}

TEST_CASE("a publisher that has gone is looked for at most once a second, and its last root is read") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  std::thread([&] { view.hold(); }).join();
  ViewHandle handle(view.tickets(), {}, 1);
  REQUIRE(handle.wait_for(5, 60'000) == ViewError::kNone);
  CHECK(handle.board()->publisher() == WriterState::kGone);
  const std::int64_t began_ns = now_ns();
  const std::uint64_t before = handle.counts().tickets;
  while (handle.counts().tickets < before + 2) {
    REQUIRE(value(handle, "a") == "1");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(now_ns() - began_ns >= kAskAgainNs);
  view.next_board(77);
  view.next_generation();
  view.publish(6, {{"a", "2"}});
  view.name();
  until(handle, [&] { return handle.generation() == 2; });
  CHECK(value(handle, "a") == "2");
}

TEST_CASE("the age is that of the read barrier, and a bound on it is kept") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), kNoWait, 1);
  handle.wait_for(5, 60'000);
  CHECK(!handle.age_ms());
  handle.set_demands({.wait_ms = 0, .age_max_ms = 600'000});
  CHECK(value(handle, "a") == "too_stale");  // nobody knows
  view.barrier(now_ns() - 5'000'000'000);
  CHECK(value(handle, "a") == "1");
  CHECK(handle.age_ms() >= 5000);
  handle.set_demands({.wait_ms = 0, .age_max_ms = 4000});
  CHECK(value(handle, "a") == "too_stale");
  CHECK(handle.wait_for(5, 0) == ViewError::kNone);
  // The board speaks of the next generation by now.
  view.next_generation();
  view.away = true;
  view.name();
  view.barrier(now_ns());
  handle.set_demands({.wait_ms = 0, .age_max_ms = 600'000});
  CHECK(value(handle, "a") == "too_stale");
  CHECK(!handle.age_ms());
}

TEST_CASE("a reader that cannot read a view's layout says so, and not that the instance is away") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets([](ViewTicket& ticket) { std::swap(ticket.board, ticket.generation); }), kNoWait, 1);
  CHECK(value(handle, "a") == "foreign");
  CHECK(absl::IsInvalidArgument(handle.refusal()));
}

TEST_CASE("tickets that lead to no view are refused") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  const auto refused = [](std::unique_ptr<ViewTickets> tickets) {
    ViewHandle handle(std::move(tickets), kNoWait, 1);
    const std::string got = value(handle, "a");
    CHECK((got == "no_view" || got == "foreign"));
    return handle.counts().refused;
  };
  CHECK(refused(view.tickets([](ViewTicket& ticket) { std::swap(ticket.board, ticket.generation); })) == 1);
  CHECK(refused(view.tickets([](ViewTicket& ticket) { ticket.board.reset(); })) == 1);
  CHECK(refused(view.tickets([](ViewTicket& ticket) { ticket.generation = Descriptor(::open("/dev/null", 0)); })) == 1);
  SmallView other(78);
  other.publish(5, {{"a", "2"}});
  CHECK(refused(view.tickets([&](ViewTicket& ticket) { ticket.board = other.ticket().board; })) == 1);
  SmallView unwritten;
  CHECK(refused(unwritten.tickets()) == 1);
}

TEST_CASE("a damaged generation is reported, and left for another one") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), kNoWait, 1);
  REQUIRE(handle.wait_for(5, 60'000) == ViewError::kNone);
  view.damage();
  CHECK(value(handle, "a") == "damaged");
  CHECK(value(handle, "a") == "damaged");
  view.next_generation();
  view.publish(6, {{"a", "2"}});
  view.name();
  handle.set_demands({.wait_ms = 60'000});
  CHECK(value(handle, "a") == "2");
}

TEST_CASE("a forked child goes on with the handle, and asks for itself") {
  SmallView view;
  view.publish(5, {{"a", "1"}});
  ViewHandle handle(view.tickets(), {.wait_ms = 60'000}, 1);
  CHECK(value(handle, "a") == "1");
  Child child([&] {
    if (value(handle, "a") != "1" || handle.counts().reads != 1 || handle.counts().tickets != 0) return 1;
    if (view.forgotten != 1) return 2;
    value(handle, "a");
    if (view.forgotten != 1 || handle.counts().reads != 2) return 3;
    view.mark_gone_and_punch();
    view.next_generation();
    view.publish(6, {{"a", "2"}});
    view.name();
    if (value(handle, "a") != "2" || handle.counts().tickets != 1) return 4;
    return EXIT_SUCCESS;
  });
  CHECK(child.wait() == EXIT_SUCCESS);
  CHECK(view.forgotten == 0);
  CHECK(handle.counts().reads == 1);
}

TEST_CASE("each error has a sentence of its own") {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < enum_names(ViewError{}).size(); ++i) {
    const std::string sentence = sentence_of(static_cast<ViewError>(i));
    CHECK(sentence.size() > 10);
    CHECK(std::find(sentences.begin(), sentences.end(), sentence) == sentences.end());
    sentences.push_back(sentence);
  }
}

}  // namespace
}  // namespace ingot::test
