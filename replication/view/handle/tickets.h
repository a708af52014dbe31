// Where a handle gets a view's memory from: whoever implements this connects to the view socket and receives the two
// descriptors.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline replication_view_handle {

// Opened read-only. Nobody is trusted: both are checked before they are mapped.
struct ViewTicket {
  Descriptor board;
  Descriptor generation;
};

// Not thread-safe; of one handle.
class ViewTickets {
 public:
  virtual ~ViewTickets() = default;

  // Asks for a ticket by a new connection, and gives up an earlier question. Never blocks.
  virtual void ask() = 0;

  // The ticket, or why there is none; nothing: it is on its way, or none was asked for. Waits at most `wait_ms` (0:
  // never blocks).
  virtual std::optional<absl::StatusOr<ViewTicket>> take(int wait_ms) = 0;

  // To be called in a forked process: the open question is the parent's. Closes this process's descriptors, and sends
  // nothing.
  virtual void forget() = 0;
};

}  // namespace ingot::replication_view_handle
