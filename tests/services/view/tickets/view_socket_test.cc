// A publisher's end and clients of a view socket, in one process.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replication/view/tickets/connect.h"
#include "replication/view/tickets/limits.h"
#include "services/view/tickets/server.h"

namespace ingot {
namespace {

ino_t inode(int fd) {
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  return info.st_ino;
}

// The server's loop runs in turns with the test: each round lets it see what has come.
class Socket : public Pollable {
 public:
  Socket() {
    char folder[] = "/tmp/ingot-view-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    folder_ = folder;
    path = folder_ + "/view.sock";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener.get(), 1000) == 0);
    listener_ = std::move(listener);
  }
  ~Socket() override { std::filesystem::remove_all(folder_); }

  // Runs a loop until `between`, called once a round, is false.
  template <typename Between>
  void serve(const Between& between) {
    auto loop = EventLoop::create(WaitOptions{});
    REQUIRE(loop.ok());
    loop_ = loop->get();
    between_ = between;
    ViewRights rights;
    rights.owner = ::geteuid();
    server = std::make_unique<TicketServer>(**loop, Descriptor(::dup(listener_.get())), rights, page);
    (*loop)->add(*server);
    (*loop)->add(*this);
    (*loop)->run();
    server.reset();
  }

  int poll(std::uint64_t) override {
    if (!between_()) loop_->stop();
    return 1;  // the loop never sleeps
  }
  bool readable() override { return true; }
  std::uint64_t deadline_ns() const override { return 0; }

  std::string path;
  ViewPage page{};
  std::unique_ptr<TicketServer> server;

 private:
  std::string folder_;
  Descriptor listener_;
  EventLoop* loop_ = nullptr;
  std::function<bool()> between_;
};

Descriptor memory() { return Descriptor(::memfd_create("part", MFD_CLOEXEC)); }

TEST_CASE("a client that comes before there is a view gets its descriptors once there is one") {
  Socket socket;
  const Descriptor board = memory(), generation = memory();
  auto client = ViewConnection::open(socket.path);
  REQUIRE(client.ok());
  bool given = false;
  std::optional<absl::StatusOr<ViewTicket>> ticket;
  socket.serve([&] {
    if (socket.page.connections.get() == 1 && !given) {
      REQUIRE_FALSE(client->take(0));
      socket.server->give(board.get(), generation.get());
      given = true;
    }
    ticket = client->take(0);
    return !ticket;
  });
  REQUIRE(ticket->ok());
  CHECK(inode((*ticket)->board.get()) == inode(board.get()));
  CHECK(inode((*ticket)->generation.get()) == inode(generation.get()));
}

TEST_CASE("a connection that waits gets one byte when a key with its prefix has changed, and none for others") {
  Socket socket;
  const Descriptor board = memory(), generation = memory();
  auto client = ViewConnection::open(socket.path), other = ViewConnection::open(socket.path);
  REQUIRE((client.ok() && other.ok()));
  REQUIRE(client->ask_wait("a/", 10));
  REQUIRE(other->ask_wait("b/", 10));
  std::optional<absl::StatusOr<ViewTicket>> ticket, others;
  const auto has_changed = [](absl::StatusOr<bool> changed) {
    REQUIRE(changed.ok());
    return *changed;
  };
  int step = 0;
  socket.serve([&] {
    if (step == 0) {
      socket.server->published(10);
      socket.server->give(board.get(), generation.get());
      ++step;
    }
    if (!ticket) ticket = client->take(0);
    if (!others) others = other->take(0);
    if (step == 1 && ticket && others && socket.server->waiting() == 2) {
      socket.server->changed("b/x", 11);
      socket.server->published(11);
      ++step;
    } else if (step == 2 && has_changed(other->changed())) {
      CHECK_FALSE(has_changed(client->changed()));
      socket.server->changed("a/x", 12);
      socket.server->published(12);
      ++step;
    } else if (step == 3) {
      CHECK_FALSE(has_changed(other->changed()));  // its byte was taken, and there is no second one
      return !has_changed(client->changed());
    }
    return true;
  });
}

TEST_CASE("junk, a prefix that is too long, and descriptors end the connection, and nothing else") {
  Socket socket;
  const Descriptor board = memory(), generation = memory();
  const auto connect = [&] {
    auto client = ViewConnection::open(socket.path);
    REQUIRE(client.ok());
    return *std::move(client);
  };
  std::vector<ViewConnection> clients;
  clients.push_back(connect());
  clients.push_back(connect());
  clients.push_back(connect());
  clients.push_back(connect());
  const std::string junk(100, '\x7f');
  REQUIRE(::send(clients[0].fd(), junk.data(), junk.size(), 0) == 100);
  const ViewAsk wide{ViewAskKind::kWait, kWaitPrefixBytesMax + 1, 0};
  REQUIRE(::send(clients[1].fd(), &wide, sizeof wide, 0) == sizeof wide);
  msghdr message{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec part{&byte, 1};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = board.get();
  std::memcpy(CMSG_DATA(head), &passed, sizeof passed);
  REQUIRE(::sendmsg(clients[2].fd(), &message, 0) == 1);
  const ino_t last = inode(clients[3].fd());
  bool given = false;
  socket.serve([&] {
    if (!std::exchange(given, true)) socket.server->give(board.get(), generation.get());
    for (int i = 0; i < 3; ++i) (void)clients[static_cast<std::size_t>(i)].take(0);
    return socket.page.accepted.get() < 4 || socket.page.connections.get() > 1;
  });
  CHECK(inode(clients[3].fd()) == last);
  const auto ticket = clients[3].take(0);
  REQUIRE(ticket.has_value());
  CHECK(ticket->ok());
}

TEST_CASE("a connection that ends keeps its place until its client has received its descriptors") {
  Socket socket;
  const Descriptor board = memory(), generation = memory();
  auto client = ViewConnection::open(socket.path), gone = ViewConnection::open(socket.path);
  REQUIRE((client.ok() && gone.ok()));
  std::optional<ViewConnection> leaves = *std::move(gone);
  const std::string junk(100, '\x7f');
  REQUIRE(::send(client->fd(), junk.data(), junk.size(), 0) == 100);
  REQUIRE(::send(leaves->fd(), junk.data(), junk.size(), 0) == 100);
  bool given = false;
  int rounds = 0;
  std::optional<absl::StatusOr<ViewTicket>> ticket;
  socket.serve([&] {
    if (!std::exchange(given, true)) socket.server->give(board.get(), generation.get());
    if (socket.page.accepted.get() == 2) ++rounds;
    if (rounds == 100) leaves.reset();  // without having received it
    if (rounds > 100 && socket.page.connections.get() == 1 && !ticket) ticket = client->take(0);
    return !ticket || socket.page.connections.get() > 0;
  });
  REQUIRE(ticket->ok());
  CHECK(inode((*ticket)->generation.get()) == inode(generation.get()));
  CHECK_FALSE(client->changed().ok());  // it was told of the end
}

TEST_CASE("who waits for a view that cannot be made, or comes then, is told why, until there is one") {
  Socket socket;
  const Descriptor board = memory(), generation = memory();
  auto first = ViewConnection::open(socket.path);
  REQUIRE(first.ok());
  std::optional<absl::StatusOr<ViewConnection>> second, third;
  std::optional<absl::StatusOr<ViewTicket>> firsts, seconds, thirds;
  socket.serve([&] {
    if (!second && socket.server->admitted() == 1) {
      socket.server->refuse(absl::ResourceExhaustedError("too many keys"));
      second = ViewConnection::open(socket.path);
      REQUIRE(second->ok());
    }
    if (!firsts) firsts = first->take(0);
    if (second && !seconds) seconds = (*second)->take(0);
    if (firsts && seconds && !third) {
      socket.server->give(board.get(), generation.get());
      third = ViewConnection::open(socket.path);
      REQUIRE(third->ok());
    }
    if (third && !thirds) thirds = (*third)->take(0);
    return !thirds;
  });
  CHECK(firsts->status() == absl::ResourceExhaustedError("too many keys"));
  CHECK(seconds->status() == absl::ResourceExhaustedError("too many keys"));
  CHECK(thirds->ok());
}

TEST_CASE("one user has no more than his share of the connections, and is told so") {
  Socket socket;
  const Descriptor board = memory(), generation = memory();
  std::vector<ViewConnection> clients;
  for (std::size_t i = 0; i <= kViewConnectionsPerUserMax; ++i) {
    auto client = ViewConnection::open(socket.path);
    REQUIRE(client.ok());
    clients.push_back(*std::move(client));
  }
  bool given = false;
  socket.serve([&] {
    if (!std::exchange(given, true)) socket.server->give(board.get(), generation.get());
    return socket.page.accepted.get() < kViewConnectionsPerUserMax || socket.page.refused.get() < 1;
  });
  const auto refused = clients.back().take(0);
  REQUIRE(refused.has_value());
  CHECK(absl::IsResourceExhausted(refused->status()));
  CHECK(clients.front().take(0)->ok());
}

TEST_CASE("the age is wanted as long as a connection asks for it") {
  Socket socket;
  auto client = ViewConnection::open(socket.path);
  REQUIRE(client.ok());
  REQUIRE(client->ask_age());
  REQUIRE(client->ask_age());
  std::optional<ViewConnection> open = *std::move(client);
  socket.serve([&] {
    if (socket.server->age_wanted()) open.reset();
    return open.has_value() || socket.server->age_wanted();
  });
  CHECK(socket.page.connections.get() == 0);
}

}  // namespace
}  // namespace ingot
