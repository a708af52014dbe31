// The fabric: the owners of its bytes, how a child attaches, and sleep words that lose no wake-up.
#include "core/limits.h"
#include "transport/host/fabric.h"

#include <fcntl.h>
#include <poll.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/transport/host/child.h"

namespace ingot {
namespace {

bool rings(const Doorbell& bell) {
  pollfd descriptor{bell.fd(), POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

TEST_CASE("every endpoint has its own pages, zero-filled, and its own line") {
  auto fabric = Fabric::create("ingot-test-fabric", 5, 10'000);
  REQUIRE(fabric.ok());
  CHECK(fabric->endpoints() == 5);
  CHECK(fabric->inbox_bytes() == round_up_to_pages(10'000));
  for (std::uint16_t i = 0; i < 5; ++i) {
    const auto inbox = fabric->inbox(EndpointId(i));
    REQUIRE(inbox.size() == fabric->inbox_bytes());
    CHECK(reinterpret_cast<std::uintptr_t>(inbox.data()) % page_bytes() == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(&fabric->sleeping(EndpointId(i))) % 64 == 0);
    for (const std::byte byte : inbox) REQUIRE(byte == std::byte{0});
    std::memset(inbox.data(), i + 1, inbox.size());
    fabric->sleeping(EndpointId(i)).raise();
  }
  for (std::uint16_t i = 0; i < 5; ++i) {  // each endpoint's bytes are its own
    for (const std::byte byte : fabric->inbox(EndpointId(i))) REQUIRE(byte == static_cast<std::byte>(i + 1));
    CHECK(fabric->asleep(EndpointId(i)));
  }
}

TEST_CASE("of many rings of one sleep the first makes the word even, and the bell rings until it is drained") {
  auto fabric = Fabric::create("ingot-test-ring", 2, 1);
  const EndpointId sleeper(1);
  SleepingWord& word = fabric->sleeping(sleeper);
  CHECK_FALSE(fabric->asleep(sleeper));
  fabric->notify(sleeper);
  CHECK_FALSE(rings(fabric->bell(sleeper)));  // awake: no system call

  word.raise();
  word.raise();
  CHECK(fabric->asleep(sleeper));
  fabric->notify(sleeper);
  CHECK_FALSE(fabric->asleep(sleeper));  // senders need not ring
  CHECK(rings(fabric->bell(sleeper)));
  CHECK_FALSE(rings(fabric->bell(EndpointId(0))));
  fabric->bell(sleeper).drain();
  fabric->bell(sleeper).drain();  // already silent: no effect
  CHECK_FALSE(rings(fabric->bell(sleeper)));
  word.lower();
  CHECK(word.sleeps.load() == 2);
}

TEST_CASE("a ringer that was stopped half-way does not wake a later sleep's word") {
  auto bell = Doorbell::create();
  SleepingWord word;
  word.raise();
  std::uint64_t seen_by_ringer = word.sleeps.load();  // the ringer is stopped here, with its bell rung
  bell->ring();
  word.lower();
  word.raise();
  // The ringer goes on, as in Doorbell::ring.
  CHECK_FALSE(word.sleeps.compare_exchange_strong(seen_by_ringer, seen_by_ringer + 1));
  CHECK(word.asleep());
}

TEST_CASE("ring always rings, asleep or not") {
  auto fabric = Fabric::create("ingot-test-awake", 1, 1);
  fabric->ring(EndpointId(0));
  CHECK(rings(fabric->bell(EndpointId(0))));
  CHECK_FALSE(fabric->asleep(EndpointId(0)));
}

TEST_CASE("child: attaches and answers", "[.fabric_child]") {
  std::vector<int> fds;
  for (std::istringstream in(std::getenv("INGOT_TEST_FABRIC")); in;) {
    int fd = -1;
    if (in >> fd) fds.push_back(fd);
  }
  auto fabric = Fabric::attach(fds);
  REQUIRE(fabric.ok());
  REQUIRE(fabric->endpoints() == 3);
  REQUIRE(fabric->inbox(EndpointId(2))[0] == std::byte{5});
  fabric->inbox(EndpointId(1))[0] = std::byte{6};
  fabric->notify(EndpointId(0));
}

TEST_CASE("a child attaches by the descriptors across exec") {
  auto fabric = Fabric::create("ingot-test-exec", 3, page_bytes());
  REQUIRE(fabric.ok());
  const std::vector<int> fds = fabric->descriptors();
  CHECK(std::set<int>(fds.begin(), fds.end()).size() == 7);
  fabric->inbox(EndpointId(2))[0] = std::byte{5};
  fabric->sleeping(EndpointId(0)).raise();
  Child child([&] {
    std::string numbers;
    for (const int fd : fabric->descriptors()) {
      if (!set_inherited(fd, true)) return 99;
      numbers += std::to_string(fd) + " ";
    }
    ::setenv("INGOT_TEST_FABRIC", numbers.c_str(), 1);
    if (::freopen("/dev/null", "w", stdout) == nullptr) return 98;
    ::execl("/proc/self/exe", "fabric_test", "[.fabric_child]", nullptr);
    return 97;
  });
  REQUIRE(child.wait() == 0);
  CHECK(fabric->inbox(EndpointId(1))[0] == std::byte{6});
  CHECK(rings(fabric->bell(EndpointId(0))));
}

TEST_CASE("the next incarnation of an endpoint has an empty inbox; writes to the old one are not read") {
  auto fabric = Fabric::create("ingot-test-renew", 3, page_bytes());
  const EndpointId dead(1), other(2);
  auto late = Segment::map(fabric->descriptors()[1 + dead.value()], Segment::Access::kReadWrite);  // a stopped sender
  fabric->inbox(dead)[0] = std::byte{7};
  fabric->inbox(other)[0] = std::byte{8};
  auto fd = fabric->renew_inbox(dead);
  REQUIRE(fd.ok());
  CHECK(fabric->descriptors()[1 + dead.value()] == *fd);
  CHECK(fabric->inbox(dead)[0] == std::byte{0});
  CHECK(fabric->inbox(other)[0] == std::byte{8});
  late->data()[0] = std::byte{9};
  CHECK(fabric->inbox(dead)[0] == std::byte{0});

  auto mapped = fabric->map_inbox(*fd);
  REQUIRE(mapped.ok());
  mapped->data()[1] = std::byte{10};
  CHECK(fabric->inbox(dead)[1] == std::byte{10});
  auto foreign = create_segment("ingot-test-foreign", 2 * page_bytes());
  CHECK(fabric->map_inbox(foreign->get()).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(::fcntl(foreign->get(), F_GETFD) >= 0);  // it remains the caller's
}

TEST_CASE("first incarnations are accepted from the start, later ones when the receiver says so, and that wakes them") {
  auto fabric = Fabric::create("ingot-test-accept", 3, 1);
  for (std::uint16_t receiver = 0; receiver < 3; ++receiver) {
    for (std::uint16_t sender = 0; sender < 3; ++sender) {
      CHECK(fabric->accepted(EndpointId(receiver), EndpointId(sender)) == Incarnation(1));
    }
  }
  fabric->sleeping(EndpointId(2)).raise();
  fabric->accept(EndpointId(0), EndpointId(2), Incarnation(2));
  CHECK(fabric->accepted(EndpointId(0), EndpointId(2)) == Incarnation(2));
  CHECK(fabric->accepted(EndpointId(1), EndpointId(2)) == Incarnation(1));
  CHECK(fabric->accepted(EndpointId(2), EndpointId(0)) == Incarnation(1));
  CHECK(rings(fabric->bell(EndpointId(2))));
}

TEST_CASE("an invalid fabric is refused with a sentence") {
  CHECK(Fabric::create("none", 0, 1).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Fabric::create("many", kEndpointsMax + 1, 1).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Fabric::create("empty", 1, 0).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Fabric::create("huge", 1, ~std::size_t{0}).status().code() == absl::StatusCode::kInvalidArgument);
  for (const std::vector<int>& fds : {std::vector<int>{}, {-1}, {1, -1}, {99999}, {1000, 1001}}) {
    CAPTURE(fds);
    CHECK(Fabric::attach(fds).status().code() == absl::StatusCode::kInvalidArgument);
  }

  const auto attach_copy = [](const Fabric& fabric, std::size_t descriptors) {
    std::vector<int> copies;
    for (std::size_t i = 0; i < descriptors; ++i) copies.push_back(::dup(fabric.descriptors()[i]));
    return Fabric::attach(copies).status();
  };
  auto fabric = Fabric::create("ingot-test-refuse", 3, 1);
  CHECK(attach_copy(*fabric, 7).ok());
  CHECK(attach_copy(*fabric, 6).code() == absl::StatusCode::kInvalidArgument);  // one bell is missing
  CHECK(attach_copy(*fabric, 5).code() == absl::StatusCode::kInvalidArgument);
  CHECK(attach_copy(*fabric, 1).code() == absl::StatusCode::kInvalidArgument);

  auto other = create_segment("ingot-test-other", 64 * page_bytes());
  const int bell = ::dup(fabric->bell(EndpointId(0)).fd());
  const std::vector<int> foreign{other->release(), bell};
  CHECK(Fabric::attach(foreign).status().message().find("another layout") != std::string::npos);
}

}  // namespace
}  // namespace ingot
