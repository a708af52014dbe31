// Calls everything in ingot.hpp on the instance that the environment names, which has "flag" and "config/a".
#include <cstdlib>
#include <iostream>
#include <source_location>
#include <type_traits>

#include "ingot.hpp"

namespace {

void require(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::cerr << "line " << where.line() << " does not hold\n";
  std::exit(1);
}

template <typename Call>
ingot_error error_of(const Call& call) {
  try {
    call();
    return INGOT_OK;
  } catch (const ingot::Error& error) {
    require(*error.what() != '\0' && std::string(error.name()) == ingot_error_name(error.code()));
    return error.code();
  }
}

void read(ingot::View& view) {
  require(view.get("flag") == "on" && !view.get("none"));
  const auto entry = view.entry("flag");
  require(entry && entry->key == "flag" && entry->version >= 1 && entry->create_revision >= 1);
  require(entry->create_revision <= entry->mod_revision && entry->mod_revision <= view.revision());
  require(entry->lease == 0 && !entry->deleted);
  const std::string_view keys[] = {"none", "flag"};
  const ingot::Answer several = view.get_several(keys);
  require(several.size() == 2 && !several.at(0) && several.at(1)->value == "on");
  require(error_of([&] { several.at(2); }) == INGOT_INVALID);
  int found = 0;
  for (const ingot::Entry& each : view.prefix("config/")) found += each.value == "1" ? 1 : 0;
  require(found == 1);
  const ingot::Answer all = view.range("", "", 1);
  require(all.size() == 1 && all.more() && !all.empty() && all.revision() == view.revision());
  ingot::Answer again;
  view.prefix("flag", again);
  view.prefix("flag", again, 5);
  require(again.size() == 1 && again[0].value == "on");
  require(view.count("", "") >= 2 && view.count_prefix("config/") == 1);
  require(view.changes(view.revision()).empty());
  require(error_of([&] { view.changes(-1); }) == INGOT_INVALID);
}

void wait(ingot::View& view) {
  require(!view.wait("none/", view.revision(), std::chrono::milliseconds(1)));
  require(view.wait_fd() >= 0 && view.age().count() >= 0 && view.identity() != 0);
  view.require(view.revision());
  view.set_timeout(std::chrono::milliseconds(20));
  view.require(view.revision() + 1000);
  require(error_of([&] { view.get("flag"); }) == INGOT_TIMED_OUT);
}

void move_and_close(ingot::View view) {
  ingot::View other = std::move(view);
  require(view.handle() == nullptr && other.handle() != nullptr);
  require(error_of([&] { view.get("flag"); }) == INGOT_CLOSED);
  require(error_of([&] { view.wait_fd(); }) == INGOT_CLOSED);
  view = std::move(other);
  view.close();
  view.close();
  require(error_of([&] { view.prefix("flag"); }) == INGOT_CLOSED && view.revision() == 0);
  ingot::Answer answer;
  ingot::Answer moved = std::move(answer);
  require(answer.empty() && answer.begin() == answer.end() && error_of([&] { answer.at(0); }) == INGOT_INVALID);
  answer = std::move(moved);
  require(answer.empty());
}

}  // namespace

static_assert(!std::is_copy_constructible_v<ingot::View> && !std::is_copy_constructible_v<ingot::Answer>);
static_assert(std::is_nothrow_move_constructible_v<ingot::View> && std::input_iterator<ingot::Answer::Iterator>);

int main() {
  const auto patience = std::chrono::seconds(100);
  ingot::View view = ingot::View::open({}, {.open_timeout = patience, .timeout = patience});
  read(view);
  wait(view);
  move_and_close(ingot::View::open());
  require(error_of([] { ingot::View::open("/nowhere.sock"); }) == INGOT_NO_DAEMON);
  require(error_of([] { ingot::View::open({}, {.timeout = std::chrono::milliseconds(-1)}); }) == INGOT_INVALID);
  require(std::string(ingot_version()) == INGOT_VERSION);
  std::cout << "every call did what it says\n";
}
