// What a board's three sides tell one another, and what it answers on any bytes.
#include "replication/view/board/board.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <span>
#include <thread>

#include "core/prng.h"
#include "replication/view/board/layout.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"
#include "transport/host/segment.h"

namespace ingot::test {
namespace {

class SharedPage {
 public:
  SharedPage() {
    void* const mapped =
        ::mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapped != MAP_FAILED);
    bytes_ = {static_cast<std::byte*>(mapped), kBoardBytes};
  }
  ~SharedPage() { ::munmap(bytes_.data(), bytes_.size()); }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

BoardKeeper keeper_of(const SharedPage& page, const BoardOwner& owner = {.identity = 5, .incarnation = 2}) {
  auto keeper = BoardKeeper::create(page.bytes(), owner);
  REQUIRE(keeper.ok());
  return *keeper;
}
BoardReader reader_of(const SharedPage& page) {
  auto reader = BoardReader::open(page.bytes());
  REQUIRE(reader.ok());
  return *reader;
}

TEST_CASE("readers see what the supervisor and the publisher have written") {
  const SharedPage page;
  CHECK(BoardReader::open(page.bytes()).status().code() == absl::StatusCode::kInvalidArgument);
  BoardKeeper keeper = keeper_of(page, {.identity = 5, .incarnation = 2, .revision = 40});
  const BoardReader reader = reader_of(page);
  CHECK(reader.identity() == 5);
  CHECK(reader.incarnation() == 2);
  CHECK(reader.revision() == 40);
  CHECK(reader.state() == BoardState::kLive);
  CHECK(reader.number() == 0);
  CHECK(!reader.generation());
  CHECK(reader.barrier_ns() == 0);
  for (std::uint64_t number = 3; number < 20; ++number) {
    keeper.name({.number = number, .bytes = number << 20, .why = WhyReplaced::kFull, .incarnation = 2});
    const auto named = reader.generation();
    REQUIRE(named);
    CHECK(named->number == number);
    CHECK(named->bytes == number << 20);
    CHECK(named->why == WhyReplaced::kFull);
    CHECK(named->incarnation == 2);
  }
  auto publisher = BoardPublisher::open(page.bytes(), 2);
  REQUIRE(publisher.ok());
  publisher->set_revision(41);
  publisher->set_barrier_ns(77);
  CHECK(reader.revision() == 41);
  CHECK(reader.barrier_ns() == 77);
  publisher->set_revision(39);
  CHECK(reader.revision() == 41);  // they never fall
  keeper.set_state(BoardState::kClosed);
  CHECK(reader.state() == BoardState::kClosed);
}

TEST_CASE("a board goes on under the next supervisor, and is nobody else's") {
  const SharedPage page;
  keeper_of(page).name({.number = 1, .bytes = 4096});
  keeper_of(page).name({.number = 2, .bytes = 8192});
  CHECK(reader_of(page).generation()->bytes == 8192);
  CHECK(BoardKeeper::create(page.bytes(), {.identity = 6, .incarnation = 2}).status().code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(BoardKeeper::create(page.bytes(), {.identity = 5, .incarnation = 3}).status().code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(BoardKeeper::create(page.bytes().first(64), {.identity = 5}).status().code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(BoardPublisher::open(page.bytes(), 3).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a board's memory can be mapped by readers that cannot write it") {
  const auto fd = create_board_memory();
  REQUIRE(fd.ok());
  const auto written = Segment::map(fd->get(), Segment::Access::kReadWrite);
  REQUIRE(written.ok());
  REQUIRE(BoardKeeper::create(written->bytes(), {.identity = 1}).ok());
  const auto shown = Segment::map(fd->get(), Segment::Access::kReadOnly);
  REQUIRE(shown.ok());
  CHECK(BoardReader::open(shown->bytes()).ok());
}

TEST_CASE("the kernel marks a publisher that is killed") {
  const SharedPage page;
  keeper_of(page);
  const BoardReader reader = reader_of(page);
  CHECK(reader.publisher() == WriterState::kNone);
  Child child([&] {
    BoardPublisher::open(page.bytes(), 2)->hold();
    ::pause();
    return 0;
  });
  while (reader.publisher() == WriterState::kNone) std::this_thread::yield();
  CHECK(reader.publisher() == WriterState::kAlive);
  child.kill(SIGSTOP);
  CHECK(reader.publisher() == WriterState::kAlive);
  child.kill();
  CHECK(child.wait() == -SIGKILL);
  CHECK(reader.publisher() == WriterState::kGone);
}

TEST_CASE("whatever bytes a board has, its readers answer with values of their types") {
  for (const std::uint64_t seed : testing::seeds(2000)) {
    INFO("seed " << seed);
    Prng prng(seed);
    const SharedPage page;
    auto* const words = reinterpret_cast<std::uint64_t*>(page.bytes().data());
    for (std::size_t i = 0; i < kBoardBytes / sizeof(std::uint64_t); ++i) {
      words[i] = prng.chance(0.3) ? 0 : prng() >> prng.below(64);
    }
    words[kBoardMagicWord] = kBoardMagic;
    if (prng.chance(0.9)) words[kBoardLayoutWord] = kBoardLayout;
    const auto reader = BoardReader::open(page.bytes());
    CHECK(reader.ok() == (words[kBoardLayoutWord] == kBoardLayout && words[kBoardIdentityWord] != 0));
    if (!reader.ok()) continue;
    CHECK(static_cast<std::size_t>(reader->state()) < enum_names(BoardState{}).size());
    if (const auto named = reader->generation()) {
      CHECK(static_cast<std::size_t>(named->why) < enum_names(WhyReplaced{}).size());
    }
    CHECK(reader->publisher() <= WriterState::kGone);
  }
}

// A supervisor that names without pause: bytes and number always belong together.
TEST_CASE("a reader sees a generation's own bytes while others are named") {
  const SharedPage page;
  BoardKeeper keeper = keeper_of(page);
  constexpr std::uint64_t kNames = 200'000;
  std::thread naming([&] {
    for (std::uint64_t number = 1; number <= kNames; ++number) keeper.name({.number = number, .bytes = number * 4096});
  });
  const BoardReader reader = reader_of(page);
  std::uint64_t last = 0;
  bool whole = true;
  while (last < kNames && whole) {
    const auto named = reader.generation();
    if (!named) continue;
    whole = named->bytes == named->number * 4096 && named->number >= last;
    last = named->number;
  }
  naming.join();
  CHECK(whole);
}

}  // namespace
}  // namespace ingot::test
