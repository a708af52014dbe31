// A client's side of the view socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/view/handle/tickets.h"
#include "transport/host/descriptor.h"

namespace ingot::inline replication_view_tickets {

// One connection. Not thread-safe; never blocks but in take().
class ViewConnection {
 public:
  // Errors: NOT_FOUND (nothing is at the path), PERMISSION_DENIED, UNAVAILABLE (no process listens there),
  // RESOURCE_EXHAUSTED (no descriptor, or too many connections wait there), INVALID_ARGUMENT (the path is too long).
  static absl::StatusOr<ViewConnection> open(const std::string& path);

  // To the first of these paths at which somebody listens. Errors: of the first one that is not NOT_FOUND; NOT_FOUND:
  // all are; INVALID_ARGUMENT: there is no path.
  static absl::StatusOr<ViewConnection> open_first(std::span<const std::string> paths);

  // The socket, to wait on until it can be read.
  int fd() const { return fd_.get(); }

  // Once. Nothing: it is on its way. Waits at most `wait_ms`. Errors: what the publisher says, or those of
  // receive_answer.
  std::optional<absl::StatusOr<ViewTicket>> take(int wait_ms);

  // After the ticket: the socket can be read once a key with that prefix may have changed after that revision; then
  // changed() takes that. False: the connection has ended; connect again.
  bool ask_wait(std::string_view prefix, std::int64_t revision);
  bool ask_age();
  // True: a wait has ended. False: not yet. Errors: UNAVAILABLE (the connection has ended).
  absl::StatusOr<bool> changed();

 private:
  explicit ViewConnection(Descriptor fd) : fd_(std::move(fd)) {}

  Descriptor fd_;
};

// For ViewHandle: a connection for each ticket. `path`: of the view socket (view_socket_path); the first of several at
// which somebody listens.
std::unique_ptr<ViewTickets> connect_view(std::string path);
// `first`: a connection that is there already, for the first ticket.
std::unique_ptr<ViewTickets> connect_view(std::vector<std::string> paths, std::optional<ViewConnection> first = {});

}  // namespace ingot::replication_view_tickets
