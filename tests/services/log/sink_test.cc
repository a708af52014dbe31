// A sink on each kind of file that standard error may be. A write that waits makes a test hang.
#include "services/log/sink.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/transport/host/child.h"
#include "transport/host/descriptor.h"

namespace ingot {
namespace {

const std::string kLine(100, 'x');

// What is written to `in` can be read from `out`. `others` refers to the same open file as `in`, as a shell's standard
// error does.
struct Channel {
  Descriptor out, in, others;

  explicit Channel(int fds[2]) : out(fds[0]), in(fds[1]), others(::dup(fds[1])) {}

  // Reads `bytes` bytes; waits for them.
  std::string read(std::size_t bytes) const {
    std::string all(bytes, 0);
    for (std::size_t have = 0; have < bytes;) {
      const ssize_t n = ::read(out.get(), all.data() + have, bytes - have);
      REQUIRE(n > 0);
      have += static_cast<std::size_t>(n);
    }
    return all;
  }
};

Channel pipe_channel() {
  int fds[2];
  REQUIRE(::pipe(fds) == 0);
  return Channel(fds);
}

Channel socket_channel() {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  return Channel(fds);
}

Channel terminal_channel() {
  int fds[2];
  REQUIRE(::openpty(&fds[0], &fds[1], nullptr, nullptr, nullptr) == 0);
  return Channel(fds);
}

// While it lives, this thread may not open files of the user that it runs as.
class OtherUser {
 public:
  explicit OtherUser(int fd) : fd_(fd) {
    REQUIRE(::fchmod(fd, 0) == 0);
    ::setfsuid(65534);  // has an effect for root only, whom modes do not stop
  }
  ~OtherUser() {
    ::setfsuid(::geteuid());
    ::fchmod(fd_, 0600);
  }

 private:
  const int fd_;
};

// Writes until there is no room. The kernel passes what a terminal is given on to its other end some time later, and
// then has room again.
std::size_t fill(const LogSink& sink) {
  constexpr int kSettledMs = 300;
  std::size_t written = 0;
  do {
    for (std::size_t n = 0; (n = sink.write(kLine)) > 0;) written += n;
  } while (sink.wait_for_room(kSettledMs));
  return written;
}

// The reader does not read; then it does.
void check_never_waits(const Channel& channel, const LogSink& sink) {
  const std::size_t written = fill(sink);
  CHECK(written >= 16 * kLine.size());
  CHECK(sink.write(kLine) == 0);
  CHECK(!sink.wait_for_room(1));
  CHECK((::fcntl(channel.others.get(), F_GETFL) & O_NONBLOCK) == 0);
  CHECK(channel.read(written).find_first_not_of('x') == std::string::npos);
  CHECK(sink.wait_for_room(-1));
  CHECK(sink.write(kLine) == kLine.size());
  CHECK(channel.read(kLine.size()) == kLine);
}

TEST_CASE("a sink on a pipe, a socket or a terminal never waits, and leaves the open file of others as it is") {
  for (auto make : {pipe_channel, socket_channel, terminal_channel}) {
    const Channel channel = make();
    check_never_waits(channel, LogSink::never_waiting(channel.in.get()));
  }
}

TEST_CASE("a sink on a pipe of another user never waits") {
  const Channel channel = pipe_channel();
  const OtherUser other(channel.in.get());
  REQUIRE(::open(("/proc/self/fd/" + std::to_string(channel.in.get())).c_str(), O_WRONLY) < 0);
  check_never_waits(channel, LogSink::never_waiting(channel.in.get()));
}

TEST_CASE("a sink on a terminal of another user takes nothing while the terminal is stopped") {
  const Channel channel = terminal_channel();
  const OtherUser other(channel.in.get());
  const LogSink sink = LogSink::never_waiting(channel.in.get());
  CHECK(sink.write(kLine) == kLine.size());
  CHECK(channel.read(kLine.size()) == kLine);
  REQUIRE(::tcflow(channel.in.get(), TCOOFF) == 0);
  CHECK(sink.write(kLine) == 0);
  REQUIRE(::tcflow(channel.in.get(), TCOON) == 0);
  CHECK(sink.write(kLine) == kLine.size());
}

TEST_CASE("a sink whose reader has gone takes nothing") {
  ::signal(SIGPIPE, SIG_IGN);
  for (auto make : {pipe_channel, socket_channel, terminal_channel}) {
    Channel channel = make();
    const LogSink sink = LogSink::never_waiting(channel.in.get());
    channel.out.reset();
    CHECK(sink.write(kLine) == 0);
  }
}

TEST_CASE("a sink on a file writes where others that share it have ended") {
  std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/log";
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
  const Descriptor others(::dup(file.get()));
  const LogSink sink = LogSink::never_waiting(file.get());
  REQUIRE(::write(others.get(), "a\n", 2) == 2);
  CHECK(sink.write("b\n") == 2);
  REQUIRE(::write(others.get(), "c\n", 2) == 2);
  char bytes[8] = {};
  CHECK(::pread(file.get(), bytes, sizeof bytes, 0) == 6);
  CHECK(std::string(bytes) == "a\nb\nc\n");
}

constexpr int kLines = 200;

// Of various lengths, each of one letter.
std::string line_of(char letter, int i) {
  return std::string(static_cast<std::size_t>(1 + i * 41 % 4000), letter) + "\n";
}

// Writes kLines lines. Returns the exit code: 0 unless a line was cut.
int write_lines(const LogSink& sink, char letter) {
  for (int i = 0; i < kLines; ++i) {
    const std::string line = line_of(letter, i);
    std::size_t written = 0;
    while ((written = sink.write(line)) == 0) sink.wait_for_room(1000);
    if (written != line.size()) return 1;
  }
  return 0;
}

// How many lines there are of each letter. REQUIRES: all lines are of one letter each.
std::map<char, int> count_lines(const std::string& all) {
  std::map<char, int> count;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
    end = all.find('\n', begin);
    REQUIRE(end != std::string::npos);
    const std::string line = all.substr(begin, end - begin);
    REQUIRE(line.find_first_not_of(line.front()) == std::string::npos);
    ++count[line.front()];
  }
  return count;
}

TEST_CASE("lines of several processes on one pipe never mix, and none is lost that was taken") {
  for (const bool own_user : {true, false}) {
    const Channel channel = pipe_channel();
    std::optional<OtherUser> other;
    if (!own_user) other.emplace(channel.in.get());
    const LogSink sink = LogSink::never_waiting(channel.in.get());
    std::vector<std::unique_ptr<Child>> writers;
    for (const char letter : {'a', 'b', 'c', 'd'}) {
      writers.push_back(std::make_unique<Child>([&sink, letter] { return write_lines(sink, letter); }));
    }
    std::size_t bytes = 0;
    for (int i = 0; i < kLines; ++i) bytes += writers.size() * line_of('a', i).size();
    const std::string all = channel.read(bytes);
    for (const auto& writer : writers) CHECK(writer->wait() == 0);
    CHECK(count_lines(all) == std::map<char, int>{{'a', kLines}, {'b', kLines}, {'c', kLines}, {'d', kLines}});
  }
}

}  // namespace
}  // namespace ingot
