// Messages and descriptors between a supervisor and a process, over real sockets.
#include "services/process/supervision_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/prng.h"
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

// Receives and flushes until no message is left. Drops the Ready messages of fill(). `memory` gets the inode of each
// message's first descriptor.
std::vector<SupervisionMessage> receive_all(Pair& pair, std::vector<ino_t>* memory = nullptr) {
  std::vector<SupervisionMessage> all;
  while (true) {
    auto got = pair.right.receive();
    pair.left.flush();
    if (got.outcome == Outcome::kNothing) return all;
    REQUIRE(got.outcome == Outcome::kMessage);
    if (got.message.has_ready()) continue;
    if (memory != nullptr && !got.fds.empty()) memory->push_back(inode(got.fds[0].get()));
    all.push_back(std::move(got.message));
  }
}

TEST_CASE("posted messages wait for room and keep their order, with descriptors that may be closed meanwhile") {
  Pair pair;
  REQUIRE(fill(pair.left) > 0);
  std::vector<ino_t> sent;
  for (int endpoint = 0; endpoint < 3; ++endpoint) {
    const Descriptor inbox = make_segment("inbox");
    sent.push_back(inode(inbox.get()));
    const int fds[] = {inbox.get()};
    pair.left.post(incarnation_message(endpoint, 2), fds);
  }
  pair.left.post(drain_message());
  CHECK(pair.left.pending());
  std::vector<ino_t> received;
  const auto all = receive_all(pair, &received);
  CHECK_FALSE(pair.left.pending());
  REQUIRE(all.size() == 4);
  for (int endpoint = 0; endpoint < 3; ++endpoint) CHECK(all[endpoint].incarnation().endpoint() == endpoint);
  CHECK(all[3].has_drain());
  CHECK(received == sent);
}

TEST_CASE("for a process that does not read, the newest posted messages of each kind are kept") {
  Pair pair;
  REQUIRE(fill(pair.left) > 0);
  const Descriptor memory = make_segment("memory");
  const int fds[] = {memory.get()};
  constexpr int kPosted = 50;
  for (int i = 1; i <= kPosted; ++i) {
    for (int endpoint = 0; endpoint < 2; ++endpoint) {
      pair.left.post(incarnation_message(endpoint, static_cast<std::uint32_t>(i)), fds);
    }
    pair.left.post(snapshot_message(Slot(static_cast<std::uint64_t>(i)), Incarnation(1)), fds);
    pair.left.post(drain_message());
  }
  std::vector<std::vector<int>> incarnations(2);
  std::vector<std::uint64_t> snapshots;
  int drains = 0;
  for (const auto& message : receive_all(pair)) {
    if (message.has_incarnation()) {
      incarnations[message.incarnation().endpoint()].push_back(static_cast<int>(message.incarnation().incarnation()));
    }
    if (message.has_snapshot()) snapshots.push_back(message.snapshot().slot());
    drains += message.has_drain() ? 1 : 0;
  }
  for (const auto& each : incarnations) CHECK(each == std::vector{kPosted - 3, kPosted - 2, kPosted - 1, kPosted});
  CHECK(snapshots == std::vector<std::uint64_t>{kPosted});
  CHECK(drains == 1);
}

TEST_CASE("a message that is posted to a process that has ended is dropped") {
  Pair pair;
  pair.right.close();
  pair.left.post(drain_message());
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
  for (std::size_t descriptors = 0; descriptors < 5; ++descriptors) {
    if (accepted(message, descriptors) != (descriptors >= least && descriptors <= most)) return false;
  }
  return !accepted(message, kSupervisionDescriptorsMax + 1);
}

TEST_CASE("a message needs the descriptors of its kind") {
  for (const auto& message : {ready_message(), drain_message(), leave_message(), describe_message(), adopted_message(),
                              failed_message(absl::NotFoundError("gone"))}) {
    CHECK(accepted_only_with(message, 0, 0));
  }
  CHECK(accepted_only_with(incarnation_message(47, 4294967295u), 1, 2));
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

TEST_CASE("a Failed message keeps the status code, and as much of the text as fits") {
  const absl::Status why = absl::NotFoundError("gone\xff");
  CHECK(status_of(failed_message(why).failed()) == why);
  const auto message = failed_message(absl::InternalError(std::string(2 * kSupervisionMessageBytesMax, 'x')));
  CHECK(accepted(message, 0));
  CHECK(status_of(message.failed()).message() == std::string(kFailureTextBytesMax, 'x'));
}

}  // namespace
}  // namespace ingot
