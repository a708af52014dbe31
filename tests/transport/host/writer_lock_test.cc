// The writer's lock: readers without write access see its holder's death at once, and no other event looks like it.
#include "transport/host/writer_lock.h"

#include <sched.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

#include "core/check.h"
#include "tests/transport/host/child.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

struct Fixture {
  Descriptor fd;
  Segment reader;

  explicit Fixture(std::size_t bytes = sizeof(WriterLock)) {
    fd = *create_segment("ingot-test-lock", bytes);
    reader = *Segment::map(fd.get(), Segment::Access::kReadOnly);
  }

  const WriterLock& lock() const { return *reader.as<WriterLock>(); }

  // Called in the writer's process or thread.
  Segment acquire() const {
    auto memory = Segment::map(fd.get(), Segment::Access::kReadWrite);
    INGOT_CHECK(memory.ok());
    INGOT_CHECK(forbid_new_writers(fd.get()).ok());
    memory->as<WriterLock>()->acquire();
    return *std::move(memory);
  }

  void wait_for(WriterState state) const {
    while (lock().state() != state) ::sched_yield();
  }
};

// Holds the lock until the process is ended.
[[noreturn]] void hold(const Fixture& fixture) {
  const Segment memory = fixture.acquire();
  for (;;) ::pause();
}

TEST_CASE("a killed writer is dead before it is reaped, a stopped one is not") {
  Fixture fixture;
  CHECK(fixture.lock().state() == WriterState::kNone);
  Child writer([&]() -> int { hold(fixture); });
  fixture.wait_for(WriterState::kAlive);

  writer.kill(SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(writer.pid(), &status, WUNTRACED) == writer.pid());
  REQUIRE(WIFSTOPPED(status));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(fixture.lock().state() == WriterState::kAlive);

  writer.kill(SIGKILL);  // stopped or not
  fixture.wait_for(WriterState::kGone);
  CHECK(writer.wait() == -SIGKILL);
  CHECK(fixture.lock().state() == WriterState::kGone);
}

TEST_CASE("a writer that crashes, exits, or shuts down is dead as well") {
  const int way = GENERATE(0, 1, 2, 3);
  INFO("way " << way);
  Fixture fixture;
  Child writer([&]() -> int {
    Segment memory = fixture.acquire();
    if (way == 0) ::raise(SIGABRT);
    if (way == 1) ::_exit(3);
    if (way == 2) memory.as<WriterLock>()->release();
    if (way == 3) ::execl("/bin/sleep", "sleep", "100", nullptr);  // the new program writes nothing here
    if (way == 2) memory = Segment();
    for (;;) ::pause();
  });
  fixture.wait_for(WriterState::kGone);
  CHECK(fixture.lock().state() == WriterState::kGone);
}

TEST_CASE("a writer is a thread: it is dead when the thread has ended, though its process lives") {
  Fixture fixture;
  Segment memory;
  std::thread writer([&] { memory = fixture.acquire(); });
  writer.join();
  CHECK(fixture.lock().state() == WriterState::kGone);
  memory.as<WriterLock>()->release();  // as a destructor on another thread does
  CHECK(fixture.lock().state() == WriterState::kGone);
}

TEST_CASE("any bytes in the lock's place give an answer") {
  auto fd = create_segment("ingot-test-garbage", sizeof(WriterLock));
  auto memory = Segment::map(fd->get(), Segment::Access::kReadWrite);
  for (int byte = 0; byte < 256; ++byte) {
    std::fill(memory->bytes().begin(), memory->bytes().end(), static_cast<std::byte>(byte));
    const WriterState state = memory->as<WriterLock>()->state();
    CHECK((state == WriterState::kNone || state == WriterState::kAlive || state == WriterState::kGone));
  }
}

TEST_CASE("figure: microseconds from a kill to the lock's word, with 64 MiB touched", "[.figure]") {
  std::vector<double> taken;
  for (int i = 0; i < 200; ++i) {
    Fixture fixture(64 << 20);
    Child writer([&]() -> int {
      const Segment memory = fixture.acquire();
      std::fill(memory.bytes().begin() + 4096, memory.bytes().end(), std::byte{1});
      if (::raise(SIGSTOP) != 0) return 1;
      for (;;) ::pause();
    });
    int status = 0;
    REQUIRE(::waitpid(writer.pid(), &status, WUNTRACED) == writer.pid());
    const auto begin = std::chrono::steady_clock::now();
    writer.kill();
    fixture.wait_for(WriterState::kGone);
    taken.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(taken.begin(), taken.end());
  std::cout << "median " << taken[100] << " us, 99th percentile " << taken[198] << " us\n";
}

}  // namespace
}  // namespace ingot
