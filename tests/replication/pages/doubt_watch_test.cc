#include "replication/pages/doubt_watch.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace ingot {
namespace {

struct Watched {
  // What one poll tells: "stopped 1.1" is replica 1 in incarnation 1.
  std::vector<std::string> poll(std::uint64_t now_ns) {
    std::vector<std::string> told;
    const auto tell = [&](const char* what, ReplicaIncarnation name) {
      told.push_back(what + std::to_string(name.id.value()) + "." + std::to_string(name.incarnation.value()));
    };
    watch.poll(
        now_ns, [&](ReplicaIncarnation name) { tell("stopped ", name); },
        [&](ReplicaIncarnation name) { tell("continued ", name); });
    return told;
  }

  std::unique_ptr<DaemonPage> page = std::make_unique<DaemonPage>();
  DoubtWatch watch{page.get(), 3};
};

using Told = std::vector<std::string>;

constexpr std::uint64_t kNow = 1'000'000'000;

TEST_CASE("a doubt is told at once, and again at each poll for a while") {
  Watched watched;
  CHECK_FALSE(watched.watch.news());
  CHECK(watched.poll(kNow).empty());
  note_doubt(*watched.page, 1, 4);
  CHECK(watched.watch.news());
  CHECK(watched.poll(kNow) == Told{"stopped 1.4"});
  CHECK_FALSE(watched.watch.news());
  CHECK(watched.poll(kNow + kDoubtRepeatNs - 1) == Told{"stopped 1.4"});
  CHECK(watched.poll(kNow + kDoubtRepeatNs).empty());
}

TEST_CASE("the end of a doubt is told once, also if another one has taken its place") {
  Watched watched;
  note_doubt(*watched.page, 1, 1);
  note_doubt(*watched.page, 2, 1);
  CHECK(watched.poll(kNow) == Told{"stopped 1.1", "stopped 2.1"});
  note_doubt(*watched.page, 1, 0);
  CHECK(watched.poll(kNow + 1) == Told{"continued 1.1", "stopped 2.1"});
  CHECK(watched.poll(kNow + 2) == Told{"stopped 2.1"});
  note_doubt(*watched.page, 2, 0);
  note_doubt(*watched.page, 2, 2);
  CHECK(watched.poll(kNow + 3) == Told{"continued 2.1", "stopped 2.2"});
}

TEST_CASE("a stop that is over before the poll is not told") {
  Watched watched;
  note_doubt(*watched.page, 0, 1);
  note_doubt(*watched.page, 0, 0);
  CHECK(watched.watch.news());
  CHECK(watched.poll(kNow).empty());
}

TEST_CASE("a reader that the page shows as doubted is told of no stop until the page is right again") {
  Watched watched;
  watched.watch = DoubtWatch(watched.page.get(), 3, ReplicaIncarnation{EndpointId(0), Incarnation(2)});
  note_doubt(*watched.page, 1, 1);
  CHECK(watched.poll(kNow) == Told{"stopped 1.1"});
  note_doubt(*watched.page, 0, 2);
  note_doubt(*watched.page, 2, 1);
  CHECK(watched.poll(kNow + 1).empty());
  note_doubt(*watched.page, 1, 0);
  CHECK(watched.poll(kNow + 2) == Told{"continued 1.1"});
  note_doubt(*watched.page, 0, 0);
  CHECK(watched.poll(kNow + 3) == Told{"stopped 2.1"});
  note_doubt(*watched.page, 0, 1);  // its predecessor
  CHECK(watched.poll(kNow + 4) == Told{"stopped 2.1"});
}

TEST_CASE("a reader that starts late learns of the present doubts, and one without a page of none") {
  Watched watched;
  note_doubt(*watched.page, 2, 1);
  Watched late{std::move(watched.page), DoubtWatch(nullptr, 0)};
  late.watch = DoubtWatch(late.page.get(), 3);
  CHECK(late.poll(kNow) == Told{"stopped 2.1"});
  late.watch = DoubtWatch(nullptr, 3);
  CHECK_FALSE(late.watch.news());
  CHECK(late.poll(kNow).empty());
}

}  // namespace
}  // namespace ingot
