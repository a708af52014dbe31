// Words and descriptors between a supervisor and its children, over real sockets.
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "services/process/control_channel.h"
#include "services/process/descriptor_passing.h"
#include "transport/host/segment.h"

namespace ingot {
namespace {

using Kind = ControlWord::Kind;
using Outcome = ReceivedMessage::Outcome;

struct Pair {
  Pair() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    left = Descriptor(fds[0]);
    right = Descriptor(fds[1]);
  }
  Descriptor left, right;
};

ino_t inode(int fd) {
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  return info.st_ino;
}

TEST_CASE("descriptors arrive in order, name the same memory, and are closed across exec") {
  Pair pair;
  auto first = create_segment("first", 1);
  auto second = create_segment("second", 1);
  REQUIRE((first.ok() && second.ok()));
  const std::vector<int> fds{first->get(), second->get()};
  REQUIRE(send_message(pair.left.get(), "life 1 2", fds).ok());
  const ReceivedMessage got = receive_message(pair.right.get());
  REQUIRE(got.outcome == Outcome::kMessage);
  CHECK(got.text == "life 1 2");
  REQUIRE(got.fds.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(inode(got.fds[i].get()) == inode(fds[i]));
    CHECK((::fcntl(got.fds[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

TEST_CASE("as many descriptors as are allowed fit into one datagram") {
  Pair pair;
  const std::vector<int> fds(kControlDescriptorsMax, pair.left.get());
  REQUIRE(send_message(pair.left.get(), std::string(kControlMessageBytesMax, 'x'), fds).ok());
  const ReceivedMessage got = receive_message(pair.right.get());
  REQUIRE(got.outcome == Outcome::kMessage);
  CHECK(got.text.size() == kControlMessageBytesMax);
  CHECK(got.fds.size() == kControlDescriptorsMax);
}

TEST_CASE("a full socket refuses whole datagrams, and takes them again when it has been read") {
  Pair pair;
  int sent = 0;
  absl::Status status;
  while ((status = send_message(pair.left.get(), "drain")).ok()) ++sent;
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  REQUIRE(sent > 0);
  REQUIRE(receive_message(pair.right.get()).outcome == Outcome::kMessage);
  CHECK(send_message(pair.left.get(), "drain").ok());
  for (int i = 0; i < sent; ++i) REQUIRE(receive_message(pair.right.get()).outcome == Outcome::kMessage);
  CHECK(receive_message(pair.right.get()).outcome == Outcome::kNothing);
}

TEST_CASE("what was sent before the end is received before the end") {
  Pair pair;
  REQUIRE(send_message(pair.left.get(), "leave").ok());
  pair.left.reset();
  CHECK(send_message(pair.right.get(), "ready").code() == absl::StatusCode::kFailedPrecondition);
  ControlChannel channel(pair.right.release());
  CHECK(channel.read().kind == Kind::kLeave);
  CHECK(channel.read().kind == Kind::kGone);
}

TEST_CASE("a datagram that is too long is dropped whole, with its descriptors") {
  Pair pair;
  const std::string text(kControlMessageBytesMax + 1, 'x');
  REQUIRE(::send(pair.left.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  const ReceivedMessage got = receive_message(pair.right.get());
  CHECK(got.outcome == Outcome::kDamaged);
  CHECK(got.text.empty());
  CHECK(parse_control_word(receive_message(pair.right.get())).kind == Kind::kNone);
}

ControlWord parse(const std::string& text, int fds) {
  ReceivedMessage message;
  message.outcome = Outcome::kMessage;
  message.text = text;
  for (int i = 0; i < fds; ++i) message.fds.emplace_back(::dup(0));
  return parse_control_word(std::move(message));
}

TEST_CASE("words are read with what belongs to them") {
  CHECK(parse("drain", 0).kind == Kind::kDrain);
  CHECK(parse("leave", 0).kind == Kind::kLeave);
  const ControlWord incarnation = parse("life 47 4294967295", 2);
  CHECK(incarnation.kind == Kind::kLife);
  CHECK(incarnation.endpoint == 47);
  CHECK(incarnation.incarnation == 4294967295u);
  CHECK(incarnation.fds.size() == 2);
  CHECK(parse("life 3 1", 1).fds.size() == 1);
  const ControlWord snapshot = parse("snapshot 4611686018427387904 3", 1);
  CHECK(snapshot.kind == Kind::kSnapshot);
  CHECK(snapshot.slot == std::uint64_t{1} << 62);
  CHECK(snapshot.incarnation == 3);
}

TEST_CASE("what is no word is nothing, and its descriptors are closed") {
  for (const char* text : {"", "Drain", "drain ", "leave now", "life", "life 1", "life 1 2 3", "life -1 2", "life 1 0",
                           "life x 1", "life 1 4294967296", "snapshot 1", "snapshot x 1", "ready"}) {
    for (int fds = 0; fds < 3; ++fds) {
      const ControlWord word = parse(text, fds);
      CAPTURE(text, fds);
      CHECK(word.kind == Kind::kNone);
      CHECK(word.fds.empty());
    }
  }
  CHECK(parse("life 1 2", 0).kind == Kind::kNone);
  CHECK(parse("life 1 2", 3).kind == Kind::kNone);
  CHECK(parse("drain", 1).kind == Kind::kNone);
  CHECK(parse("snapshot 1 1", 2).kind == Kind::kNone);
}

}  // namespace
}  // namespace ingot
