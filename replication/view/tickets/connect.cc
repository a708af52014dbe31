#include "replication/view/tickets/connect.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/view/tickets/message.h"
#include "replication/view/tickets/protocol.h"

namespace ingot::inline replication_view_tickets {

namespace {

absl::Status not_connected(const std::string& path, int error) {
  const std::string text = absl::StrCat(path, ": ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(text, "; an instance that runs with --view=off has no view socket"));
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(absl::StrCat(text, "; ask for --view-users or --view-groups"));
  }
  if (error == EAGAIN) return absl::ResourceExhaustedError(absl::StrCat(path, ": too many connections wait there"));
  return absl::UnavailableError(text);
}

bool send_ask(int fd, ViewAskKind kind, std::string_view prefix, std::int64_t revision) {
  const ViewAsk ask{kind, static_cast<std::uint32_t>(prefix.size()), revision};
  std::string bytes(sizeof ask, '\0');
  std::memcpy(bytes.data(), &ask, sizeof ask);
  bytes.append(prefix);
  return ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

bool readable_within(int fd, int wait_ms) {
  pollfd waits{fd, POLLIN, 0};
  return ::poll(&waits, 1, wait_ms) > 0;
}

class SocketTickets final : public ViewTickets {
 public:
  SocketTickets(std::vector<std::string> paths, std::optional<ViewConnection> first)
      : paths_(std::move(paths)), first_(std::move(first)) {}

  void ask() override {
    failure_ = absl::OkStatus();
    connection_ = std::exchange(first_, std::nullopt);
    if (connection_) return;
    auto opened = ViewConnection::open_first(paths_);
    failure_ = opened.status();
    if (opened.ok()) connection_ = *std::move(opened);
  }

  std::optional<absl::StatusOr<ViewTicket>> take(int wait_ms) override {
    if (!failure_.ok()) return std::exchange(failure_, absl::OkStatus());
    if (!connection_) return std::nullopt;
    auto taken = connection_->take(wait_ms);
    if (taken) connection_.reset();
    return taken;
  }

  void forget() override {
    first_.reset();
    connection_.reset();
    failure_ = absl::OkStatus();
  }

 private:
  const std::vector<std::string> paths_;
  std::optional<ViewConnection> first_;
  std::optional<ViewConnection> connection_;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<ViewConnection> ViewConnection::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(absl::StrCat("a view socket's path has 1 to ", sizeof address.sun_path - 1,
                                                   " bytes, not ", path.size()));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return absl::ResourceExhaustedError(absl::StrCat("no socket: ", std::strerror(errno)));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return not_connected(path, errno);
  }
  return ViewConnection(std::move(fd));
}

absl::StatusOr<ViewConnection> ViewConnection::open_first(std::span<const std::string> paths) {
  absl::Status error = absl::InvalidArgumentError("there is no path of a view socket");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto connection = open(paths[i]);
    if (connection.ok()) return connection;
    if (i == 0 || absl::IsNotFound(error)) error = connection.status();
  }
  return error;
}

std::optional<absl::StatusOr<ViewTicket>> ViewConnection::take(int wait_ms) {
  if (!readable_within(fd_.get(), wait_ms)) return std::nullopt;
  auto answer = receive_answer(fd_.get());
  if (!answer.ok()) return answer.status();
  if (!answer->status.ok()) return answer->status;
  return ViewTicket{std::move(answer->fds[0]), std::move(answer->fds[1])};
}

bool ViewConnection::ask_wait(std::string_view prefix, std::int64_t revision) {
  return send_ask(fd_.get(), ViewAskKind::kWait, prefix, revision);
}

bool ViewConnection::ask_age() { return send_ask(fd_.get(), ViewAskKind::kAge, "", 0); }

absl::StatusOr<bool> ViewConnection::changed() {
  char bytes[16];
  const ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got > 0) return true;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  return absl::UnavailableError("the view's publisher has ended the connection");
}

std::unique_ptr<ViewTickets> connect_view(std::string path) {
  return connect_view(std::vector<std::string>{std::move(path)});
}

std::unique_ptr<ViewTickets> connect_view(std::vector<std::string> paths, std::optional<ViewConnection> first) {
  return std::make_unique<SocketTickets>(std::move(paths), std::move(first));
}

}  // namespace ingot::replication_view_tickets
