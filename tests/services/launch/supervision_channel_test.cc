// Messages and descriptors between a supervisor and a process, over real sockets.
#include "services/launch/supervision_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "services/config/limits.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

using Kind = SupervisionMessage::KindCase;
using Outcome = SupervisionChannel::Received::Outcome;

struct Pair {
  Pair() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    left = SupervisionChannel(Descriptor(fds[0]));
    right = SupervisionChannel(Descriptor(fds[1]));
  }
  // Sends any bytes, as another program might.
  void send_raw(const std::string& bytes) {
    REQUIRE(::send(left.fd(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  SupervisionChannel left, right;
};

ino_t inode(int fd) {
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  return info.st_ino;
}

Descriptor make_segment(const char* name) {
  auto fd = create_segment(name, 1);
  REQUIRE(fd.ok());
  return *std::move(fd);
}

TEST_CASE("descriptors arrive in order, name the same memory, and are closed across exec") {
  Pair pair;
  const Descriptor first = make_segment("first"), second = make_segment("second");
  const std::vector<int> fds{first.get(), second.get()};
  REQUIRE(pair.left.send(incarnation_message(1, 2), fds).ok());
  const auto got = pair.right.receive();
  REQUIRE(got.outcome == Outcome::kMessage);
  CHECK(got.message.incarnation().endpoint() == 1);
  CHECK(got.message.incarnation().incarnation() == 2);
  REQUIRE(got.fds.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(inode(got.fds[i].get()) == inode(fds[i]));
    CHECK((::fcntl(got.fds[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

TEST_CASE("as many descriptors as are allowed fit into one datagram") {
  Pair pair;
  const std::vector<int> fds(kSupervisionDescriptorsMax, pair.left.fd());
  SupervisionMessage message;
  message.mutable_take_descriptors()->set_floor(1 << 30);
  for (std::size_t i = 0; i < fds.size(); ++i) message.mutable_take_descriptors()->add_numbers((1 << 30) - 1);
  REQUIRE(pair.left.send(message, fds).ok());
  const auto got = pair.right.receive();
  REQUIRE(got.outcome == Outcome::kMessage);
  CHECK(got.fds.size() == kSupervisionDescriptorsMax);
}

TEST_CASE("a full channel refuses whole messages, and takes them again when it has been read") {
  Pair pair;
  int sent = 0;
  absl::Status status;
  while ((status = pair.left.send(drain_message())).ok()) ++sent;
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  REQUIRE(sent > 0);
  REQUIRE(pair.right.receive().outcome == Outcome::kMessage);
  CHECK(pair.left.send(drain_message()).ok());
  for (int i = 0; i < sent; ++i) REQUIRE(pair.right.receive().outcome == Outcome::kMessage);
  CHECK(pair.right.receive().outcome == Outcome::kNothing);
}

TEST_CASE("what was sent before the end is received before the end") {
  Pair pair;
  REQUIRE(pair.left.send(leave_message()).ok());
  pair.left.close();
  CHECK(pair.right.send(ready_message()).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(pair.left.send(ready_message()).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(pair.right.receive().message.has_leave());
  CHECK(pair.right.receive().outcome == Outcome::kEnd);
}

// ---- Messages for a process that does not read ----

int fill(SupervisionChannel& channel) {
  int sent = 0;
  while (channel.send(ready_message()).ok()) ++sent;
  return sent;
}

// Receives and flushes until no message is left. Drops the Ready messages of fill().
std::vector<SupervisionMessage> receive_all(Pair& pair) {
  std::vector<SupervisionMessage> all;
  while (true) {
    auto got = pair.right.receive();
    CHECK(pair.left.flush().ok());
    if (got.outcome == Outcome::kNothing) return all;
    REQUIRE(got.outcome == Outcome::kMessage);
    if (!got.message.has_ready()) all.push_back(std::move(got.message));
  }
}

TEST_CASE("posted messages wait for room and keep their order, of each kind the newest") {
  Pair pair;
  REQUIRE(fill(pair.left) > 0);
  for (int i = 0; i < 50; ++i) {
    CHECK(pair.left.post(adopted_message()).ok());
    CHECK(pair.left.post(drain_message()).ok());
  }
  CHECK(pair.left.pending());
  const auto all = receive_all(pair);
  CHECK_FALSE(pair.left.pending());
  REQUIRE(all.size() == 2);
  CHECK(all[0].has_adopted());
  CHECK(all[1].has_drain());
}

TEST_CASE("a message that is posted to a process that has ended is dropped") {
  Pair pair;
  pair.right.close();
  CHECK(pair.left.post(drain_message()).code() == absl::StatusCode::kFailedPrecondition);
  CHECK_FALSE(pair.left.pending());
}

// ---- Datagrams that are not messages ----

TEST_CASE("a datagram that is too long is dropped whole, and counted") {
  Pair pair;
  pair.send_raw(std::string(kSupervisionMessageBytesMax + 1, 'x'));
  CHECK(pair.right.receive().outcome == Outcome::kTruncated);
  CHECK(pair.right.refused() == 1);
  REQUIRE(pair.left.send(ready_message()).ok());
  CHECK(pair.right.receive().message.has_ready());
}

TEST_CASE("bytes that are not a message are refused and counted, and the next message is received") {
  Pair pair;
  Prng prng(1);
  std::uint64_t refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(1 + prng.below(40), '\0');
    for (char& each : bytes) each = static_cast<char>(prng.below(256));
    const bool message = decode_supervision_message(bytes, 0).has_value();
    pair.send_raw(bytes);
    CHECK(pair.right.receive().outcome == (message ? Outcome::kMessage : Outcome::kMalformed));
    refused += message ? 0 : 1;
    CHECK(pair.right.refused() == refused);
    REQUIRE(pair.left.send(leave_message()).ok());
    CHECK(pair.right.receive().message.has_leave());
  }
  CHECK(refused > 1000);
}

TEST_CASE("the texts of earlier versions are not messages") {
  for (const char* text : {"ready", "failed 6 in use", "instance 0.3.0 17 4000", "life 1 2", "snapshot 1 1", "drain",
                           "leave", "describe", "adopted", "described 7", "descriptors", "take 9 3",
                           "become @replica 3 4"}) {
    CAPTURE(text);
    for (std::size_t descriptors = 0; descriptors < 3; ++descriptors) {
      CHECK_FALSE(decode_supervision_message(text, descriptors).has_value());
    }
  }
}

bool accepted(const SupervisionMessage& message, std::size_t descriptors) {
  return decode_supervision_message(message.SerializeAsString(), descriptors).has_value();
}

// True if the message is accepted with these numbers of descriptors and no others.
bool accepted_only_with(const SupervisionMessage& message, std::size_t least, std::size_t most) {
  for (std::size_t descriptors = 0; descriptors <= kFrontEndLoopsMax + 1; ++descriptors) {
    if (accepted(message, descriptors) != (descriptors >= least && descriptors <= most)) return false;
  }
  return !accepted(message, kSupervisionDescriptorsMax + 1);
}

TEST_CASE("a message needs the descriptors of its kind") {
  for (const auto& message : {ready_message(), drain_message(), leave_message(), describe_message(), adopted_message(),
                              failed_message(absl::NotFoundError("gone"))}) {
    CHECK(accepted_only_with(message, 0, 0));
  }
  // Two of a replica; of a front end an inbox for each of its loops.
  CHECK(accepted_only_with(incarnation_message(47, 4294967295u), 1, kFrontEndLoopsMax));
  SupervisionMessage ended = incarnation_message(1, 9, std::vector{Incarnation(3), Incarnation(8)});
  CHECK(accepted_only_with(ended, 1, kFrontEndLoopsMax));
  ended.mutable_incarnation()->set_ended(true);
  CHECK(accepted_only_with(ended, 1, 1));
  CHECK(accepted_only_with(kept_message(1, std::vector{Incarnation(3), Incarnation(8)}), 0, 0));
  CHECK(accepted_only_with(snapshot_message(Slot(std::uint64_t{1} << 62), Incarnation(3)), 1, 1));
  SupervisionMessage message;
  CHECK_FALSE(accepted(message, 0));  // no kind
  message.mutable_orphaned();
  CHECK(accepted_only_with(message, 0, 0));
  message.mutable_handover_document()->set_descriptors(1);
  CHECK(accepted_only_with(message, 1, 1));
  message.mutable_handover_descriptors();
  CHECK(accepted_only_with(message, 1, kSupervisionDescriptorsMax));
  message.mutable_take_role()->set_role("@replica");
  message.mutable_take_role()->set_launch_fd(3);
  message.mutable_take_role()->set_control_fd(4);
  CHECK(accepted_only_with(message, 0, 0));
}

TEST_CASE("fields out of range are refused") {
  SupervisionMessage message = incarnation_message(1, 1);
  message.mutable_incarnation()->set_endpoint(-1);
  CHECK_FALSE(accepted(message, 1));
  message = incarnation_message(1, 1);
  message.mutable_incarnation()->set_incarnation(0);
  CHECK_FALSE(accepted(message, 1));
  CHECK_FALSE(accepted(snapshot_message(Slot((std::uint64_t{1} << 62) + 1), Incarnation(1)), 1));
  message.mutable_failed()->set_text("without a code");
  CHECK_FALSE(accepted(message, 0));
  message.mutable_orphaned()->set_orphan_ms(-1);
  CHECK_FALSE(accepted(message, 0));
  message.mutable_take_role()->set_launch_fd(3);
  message.mutable_take_role()->set_control_fd(4);
  CHECK_FALSE(accepted(message, 0));  // no role
  auto& take = *message.mutable_take_descriptors();
  take.set_floor(10);
  take.add_numbers(9);
  CHECK(accepted(message, 1));
  for (const int number : {-1, 2, 10}) {
    take.set_numbers(0, number);
    CHECK_FALSE(accepted(message, 1));
  }
}

TEST_CASE("a list of kept incarnations ascends, is of earlier ones, and fits into a datagram") {
  std::vector<Incarnation> longest;
  for (std::uint32_t i = 0; i < kKeptIncarnationsMax; ++i) longest.push_back(Incarnation(4'000'000'000u + i));
  CHECK(accepted(incarnation_message(47, 4'294'967'295u, longest), 2));
  CHECK(accepted(kept_message(47, longest), 0));
  const auto refused = [](std::initializer_list<std::uint32_t> kept) {
    SupervisionMessage message = incarnation_message(1, 9);
    for (const std::uint32_t each : kept) message.mutable_incarnation()->add_kept(each);
    return !accepted(message, 2);
  };
  CHECK_FALSE(refused({1, 2, 8}));
  CHECK(refused({0, 2}));
  CHECK(refused({2, 2}));
  CHECK(refused({3, 2}));
  CHECK(refused({3, 9}));
}

TEST_CASE("a Failed message keeps the status code, and as much of the text as fits") {
  const absl::Status why = absl::NotFoundError("gone\xff");
  CHECK(status_of(failed_message(why).failed()) == why);
  const auto message = failed_message(absl::InternalError(std::string(2 * kSupervisionMessageBytesMax, 'x')));
  CHECK(accepted(message, 0));
  CHECK(status_of(message.failed()).message() == std::string(kFailureTextBytesMax, 'x'));
}

}  // namespace
}  // namespace ingot
