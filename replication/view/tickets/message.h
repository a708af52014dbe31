// The first message on a connection to the view socket, as both sides handle it.
#pragma once

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/view/tickets/protocol.h"
#include "transport/host/descriptor.h"

namespace ingot::inline replication_view_tickets {

// Never waits. False: it could not be sent as a whole. REQUIRES: nothing was sent before.
bool send_answer(int connection, const absl::Status& status, std::span<const int> fds);

struct ReceivedAnswer {
  absl::Status status;
  std::vector<Descriptor> fds;  // closed on exec
};

// REQUIRES: something can be read, or the end has come. Errors: UNAVAILABLE (the end came first: the publisher has ended,
// or has no room), INVALID_ARGUMENT (another program answers there).
absl::StatusOr<ReceivedAnswer> receive_answer(int connection);

}  // namespace ingot::replication_view_tickets
