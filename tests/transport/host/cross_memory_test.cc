// Copies between processes: what is copied is the payload that was offered, or there is no copy.
#include "transport/host/cross_memory.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "core/check.h"
#include "tests/transport/host/child.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

constexpr EndpointId kReader(0), kOwner(1);
constexpr uid_t kNobody = 65534;

// A directory of two endpoints, and an offer that one process leaves for another.
struct Shared {
  std::array<std::byte, cross_memory_bytes(2)> directory;
  PayloadOffer offer;
  std::atomic<std::uint32_t> step;

  void reach(std::uint32_t next) { step.store(next, std::memory_order_release); }
  void await(std::uint32_t wanted) const {
    while (step.load(std::memory_order_acquire) < wanted) std::this_thread::yield();
  }
};

struct Fixture {
  Descriptor fd = *create_segment("ingot-test-cross", sizeof(Shared));
  Segment memory = *Segment::map(fd.get(), Segment::Access::kReadWrite);
  Shared& shared = *memory.as<Shared>();
};

// Offers `bytes` and waits to be killed.
int offer_and_wait(Shared& shared, std::span<const std::byte> bytes) {
  CrossMemory own(shared.directory, kOwner);
  shared.offer = own.offer(bytes);
  shared.reach(1);
  for (;;) ::pause();
}

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
  return data;
}

TEST_CASE("a payload is copied from another process, until that process dies") {
  const std::size_t bytes = GENERATE(1, 4096, 3'000'001);
  Fixture fixture;
  Shared& shared = fixture.shared;
  Child owner([&] { return offer_and_wait(shared, numbered(bytes)); });
  CrossMemory reader(shared.directory, kReader);
  shared.await(1);
  std::vector<std::byte> target(bytes);
  REQUIRE(reader.copy(kOwner, shared.offer, target) == CopyResult::kCopied);
  CHECK((target == numbered(bytes)));
  owner.kill();
  owner.wait();
  CHECK(reader.copy(kOwner, shared.offer, target) == CopyResult::kImpossible);
}

TEST_CASE("the memory of a process that has got a dead owner's number is not taken for the owner's") {
  Fixture fixture;
  Shared& shared = fixture.shared;
  Child owner([&] { return offer_and_wait(shared, numbered(100)); });
  CrossMemory reader(shared.directory, kReader);
  shared.await(1);
  owner.kill();
  owner.wait();
  // A stranger with that number: it has other bytes at the same address.
  std::vector<std::byte> strange(100, std::byte{1}), target(100);
  Child stranger([&] {
    for (;;) ::pause();
    return 0;
  });
  auto* entries = reinterpret_cast<CrossMemoryEntry*>(shared.directory.data());
  entries[kOwner.value()].process.store(static_cast<std::uint32_t>(stranger.pid()));
  PayloadOffer offer = shared.offer;
  offer.address = reinterpret_cast<std::uintptr_t>(strange.data());
  CHECK(reader.copy(kOwner, offer, target) == CopyResult::kImpossible);
}

TEST_CASE("the owner's exec ends its offers") {
  Fixture fixture;
  Shared& shared = fixture.shared;
  Child owner([&] {
    auto* own = new CrossMemory(shared.directory, kOwner);
    const auto* data = new std::vector<std::byte>(numbered(5000));
    shared.offer = own->offer(*data);
    shared.reach(1);
    shared.await(2);
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    return 1;
  });
  CrossMemory reader(shared.directory, kReader);
  shared.await(1);
  std::vector<std::byte> target(5000);
  REQUIRE(reader.copy(kOwner, shared.offer, target) == CopyResult::kCopied);
  shared.reach(2);
  while (reader.copy(kOwner, shared.offer, target) == CopyResult::kCopied) CHECK((target == numbered(5000)));
  CHECK(reader.copy(kOwner, shared.offer, target) == CopyResult::kImpossible);
}

TEST_CASE("an offer that is withdrawn, of memory that is not there, or of nobody, is not copied") {
  Fixture fixture;
  Shared& shared = fixture.shared;
  const std::size_t page = page_bytes();
  Child owner([&] {
    CrossMemory own(shared.directory, kOwner);
    auto* memory = static_cast<std::byte*>(
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::munmap(memory + page, page);
    shared.offer = own.offer({memory, 2 * page});
    shared.reach(1);
    shared.await(2);
    own.withdraw();
    shared.reach(3);
    for (;;) ::pause();
    return 0;
  });
  CrossMemory reader(shared.directory, kReader);
  shared.await(1);
  std::vector<std::byte> target(2 * page);
  CHECK(reader.copy(kOwner, shared.offer, target) == CopyResult::kImpossible);
  PayloadOffer half = shared.offer;
  half.bytes /= 2;
  CHECK(reader.copy(kOwner, half, std::span(target).first(page)) == CopyResult::kCopied);
  shared.reach(2);
  shared.await(3);
  CHECK(reader.copy(kOwner, half, std::span(target).first(page)) == CopyResult::kWithdrawn);

  Fixture empty;
  CrossMemory alone(empty.shared.directory, kReader);
  CHECK(alone.copy(kOwner, half, std::span(target).first(page)) == CopyResult::kImpossible);
}

TEST_CASE("a process that the kernel protects is not copied from") {
  Fixture fixture;
  Shared& shared = fixture.shared;
  CrossMemory own(shared.directory, kOwner);
  const auto data = numbered(100);
  shared.offer = own.offer(data);
  // Root reads every process: so the reader gives its rights up. Others may not read what is not dumpable.
  REQUIRE(::prctl(PR_SET_DUMPABLE, 0) == 0);
  Child child([&] {
    if (::geteuid() == 0) INGOT_CHECK(::setresuid(kNobody, kNobody, kNobody) == 0);
    CrossMemory reader(shared.directory, kReader);
    std::vector<std::byte> target(100);
    return reader.copy(kOwner, shared.offer, target) == CopyResult::kImpossible ? 0 : 1;
  });
  const int code = child.wait();
  REQUIRE(::prctl(PR_SET_DUMPABLE, 1) == 0);
  CHECK(code == 0);
}

// The owner fills a buffer with one value, offers it, withdraws it at some moment, and fills it with the next.
int offer_and_overwrite(Shared& shared) {
  CrossMemory own(shared.directory, kOwner);
  std::vector<std::byte> data(20'000);
  shared.offer = own.offer(data);
  for (std::uint32_t round = 1;; ++round) {
    std::fill(data.begin(), data.end(), static_cast<std::byte>(round));
    INGOT_CHECK(own.offer(data).epoch == round - 1);
    shared.reach(round);
    for (std::uint32_t i = 0; i < round % 97 * 50; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    own.withdraw();
  }
}

TEST_CASE("a payload that its owner overwrites after the withdrawal is never half old and half new") {
  Fixture fixture;
  Shared& shared = fixture.shared;
  Child owner([&] { return offer_and_overwrite(shared); });
  CrossMemory reader(shared.directory, kReader);
  shared.await(1);
  std::vector<std::byte> target(20'000);
  int copied = 0, withdrawn = 0;
  while (copied < 200 || withdrawn < 200) {
    const std::uint32_t round = shared.step.load(std::memory_order_acquire);
    PayloadOffer offer = shared.offer;
    offer.epoch = round - 1;
    const CopyResult result = reader.copy(kOwner, offer, target);
    if (result == CopyResult::kWithdrawn) {
      ++withdrawn;
      continue;
    }
    REQUIRE(result == CopyResult::kCopied);
    ++copied;
    const bool uniform = std::all_of(target.begin(), target.end(), [&](std::byte b) { return b == target[0]; });
    if (!uniform) FAIL("bytes of two rounds in one copy, about round " << round);
  }
}

TEST_CASE("threads of one process copy, too") {
  Fixture fixture;
  const auto data = numbered(100'000);
  CrossMemory reader(fixture.shared.directory, kReader);
  std::vector<std::byte> target(data.size());
  std::atomic<bool> over{false};
  std::thread owner([&] {
    CrossMemory own(fixture.shared.directory, kOwner);
    fixture.shared.offer = own.offer(data);
    fixture.shared.reach(1);
    while (!over) std::this_thread::yield();
  });
  fixture.shared.await(1);
  const CopyResult copied = reader.copy(kOwner, fixture.shared.offer, target);
  over = true;
  owner.join();
  CHECK(copied == CopyResult::kCopied);
  CHECK((target == data));
  CHECK(reader.copy(kOwner, fixture.shared.offer, target) != CopyResult::kCopied);
}

}  // namespace
}  // namespace ingot
