// Sealed shared memory: what it permits, what it forbids for ever, and how it passes fork and exec.
#include "transport/host/limits.h"
#include "transport/host/segment.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "tests/transport/host/child.h"

namespace ingot {
namespace {

using Access = Segment::Access;

std::size_t bytes_of(const char* name) {  // virtual size of this process's mappings of the memfd
  std::size_t total = 0;
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0, to = 0;
    if (std::strstr(line, name) != nullptr && std::sscanf(line, "%lx-%lx", &from, &to) == 2) total += to - from;
  }
  std::fclose(maps);
  return total;
}

TEST_CASE("a new segment is zero-filled, page-sized, and shared by its mappings") {
  auto fd = create_segment("ingot-test-shared", 5000);
  REQUIRE(fd.ok());
  auto writer = Segment::map(fd->get(), Access::kReadWrite);
  auto reader = Segment::map(fd->get(), Access::kReadOnly);
  REQUIRE(writer.ok());
  REQUIRE(reader.ok());
  CHECK(writer->size() == round_up_to_pages(5000));
  for (const std::byte byte : reader->bytes()) REQUIRE(byte == std::byte{0});
  writer->bytes()[4999] = std::byte{7};
  CHECK(reader->bytes()[4999] == std::byte{7});
  CHECK(reader->data() != writer->data());
}

TEST_CASE("a segment can be neither shrunk nor grown") {
  auto fd = create_segment("ingot-test-size", 4 * page_bytes());
  REQUIRE(fd.ok());
  CHECK(::ftruncate(fd->get(), 0) == -1);
  CHECK(errno == EPERM);
  CHECK(::ftruncate(fd->get(), 1 << 20) == -1);
  CHECK(errno == EPERM);
  CHECK(Segment::map(fd->get(), Access::kReadOnly)->size() == 4 * page_bytes());
}

TEST_CASE("after forbid_new_writers only the existing mapping writes") {
  auto fd = create_segment("ingot-test-seal", page_bytes());
  REQUIRE(fd.ok());
  auto writer = Segment::map(fd->get(), Access::kReadWrite);
  CHECK_FALSE(new_writers_forbidden(fd->get()));
  REQUIRE(forbid_new_writers(fd->get()).ok());
  REQUIRE(forbid_new_writers(fd->get()).ok());  // idempotent
  CHECK(new_writers_forbidden(fd->get()));

  CHECK(Segment::map(fd->get(), Access::kReadWrite).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(::pwrite(fd->get(), "x", 1, 0) == -1);
  writer->bytes()[0] = std::byte{42};  // still allowed
  auto reader = Segment::map(fd->get(), Access::kReadOnly);
  REQUIRE(reader.ok());
  CHECK(reader->bytes()[0] == std::byte{42});
  // A reader cannot make its mapping writable afterwards.
  CHECK(::mprotect(reader->data(), reader->size(), PROT_READ | PROT_WRITE) == -1);
}

TEST_CASE("a write through a read-only mapping kills the writer, and affects no other") {
  auto fd = create_segment("ingot-test-ro", page_bytes());
  auto reader = Segment::map(fd->get(), Access::kReadOnly);
  REQUIRE(reader.ok());
  Child vandal([&] {
    ::signal(SIGSEGV, SIG_DFL);
    *reinterpret_cast<volatile char*>(reader->data()) = 1;
    return 0;
  });
  CHECK(vandal.wait() != 0);
  CHECK(reader->bytes()[0] == std::byte{0});
}

TEST_CASE("mappings come and go with their objects, not with the descriptor") {
  const char* name = "ingot-test-life";
  Segment kept;
  {
    auto fd = create_segment(name, page_bytes());
    auto mapping = Segment::map(fd->get(), Access::kReadWrite);
    auto other = Segment::map(fd->get(), Access::kReadWrite);
    CHECK(bytes_of(name) == 2 * page_bytes());
    mapping->bytes()[0] = std::byte{9};
    kept = *std::move(mapping);
  }
  CHECK(bytes_of(name) == page_bytes());
  CHECK(kept.bytes()[0] == std::byte{9});
  kept = Segment();
  CHECK(bytes_of(name) == 0);
}

TEST_CASE("bad sizes, names and descriptors are refused with a sentence") {
  CHECK(create_segment("zero", 0).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(create_segment("huge", kSegmentBytesMax + 1).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(create_segment(std::string(250, 'x'), 1).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(create_segment(std::string(249, 'x'), 1).ok());
  CHECK(Segment::map(-1, Access::kReadOnly).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Segment::map(0, Access::kReadOnly).status().code() == absl::StatusCode::kInvalidArgument);
  Descriptor unsealed(::memfd_create("ingot-test-unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto refused = Segment::map(unsealed.get(), Access::kReadOnly).status();
  CHECK(refused.code() == absl::StatusCode::kInvalidArgument);
  CHECK(refused.message().find("its size is not sealed") != std::string::npos);
  CHECK_FALSE(forbid_new_writers(unsealed.get() + 1000).ok());
}

// Run by the test below in a separate process, after exec.
TEST_CASE("child: finds the inherited segment", "[.segment_child]") {
  const int fd = std::atoi(std::getenv("INGOT_TEST_FD"));
  auto segment = Segment::map(fd, Access::kReadWrite);
  REQUIRE(segment.ok());
  REQUIRE(segment->bytes()[0] == std::byte{1});
  segment->bytes()[1] = std::byte{2};
}

TEST_CASE("a segment crosses exec only when it is told to") {
  auto fd = create_segment("ingot-test-exec", page_bytes());
  auto mine = Segment::map(fd->get(), Access::kReadWrite);
  mine->bytes()[0] = std::byte{1};
  for (const bool inherited : {false, true}) {
    Child child([&] {
      ::setenv("INGOT_TEST_FD", std::to_string(fd->get()).c_str(), 1);
      if (inherited && !set_inherited(fd->get(), true)) return 99;
      if (::freopen("/dev/null", "w", stdout) == nullptr) return 98;
      ::execl("/proc/self/exe", "segment_test", "[.segment_child]", nullptr);
      return 97;
    });
    const int code = child.wait();
    CHECK((code == 0) == inherited);
    CHECK(code < 97);
    CHECK(mine->bytes()[1] == (inherited ? std::byte{2} : std::byte{0}));
  }
}

}  // namespace
}  // namespace ingot
