// The shared memory of an instance's transport, and the doorbells that wake its endpoints.
//
//   control      FabricHeader, one line
//                SleepingWord[endpoints], one line each
//                accepted[receiver][sender], one u32 each, rows of whole lines
//   inbox        one segment an endpoint, `inbox_bytes` each
//   bell         one eventfd an endpoint
//
// Segments are zero-filled and writable by every process of the instance; the transport defines an inbox's content. The
// supervisor creates them; a child that inherited the descriptors attaches. The descriptors live as long as the Fabric.
//
// The next incarnation of an endpoint gets a new inbox, which messages to its predecessor cannot reach, even those that
// a stopped process writes later. Control segment and bells stay the same for all incarnations. accepted[r][s] is the
// newest incarnation of s whose messages r takes (transport/host/peer_incarnations.h); first incarnations are accepted
// from the start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/shared_cell.h"
#include "core/types.h"
#include "transport/host/doorbell.h"
#include "transport/host/segment.h"
#include "transport/waker.h"

namespace ingot::inline transport_host {

// Thread-safe except for construction, moves and destruction: all endpoints of a process may share one.
class Fabric final : public Waker {
 public:
  // `inbox_bytes` is rounded up to whole pages. Errors: INVALID_ARGUMENT (endpoints not in 1 .. kEndpointsMax, too
  // large), RESOURCE_EXHAUSTED (memory, descriptors).
  static absl::StatusOr<Fabric> create(const std::string& name, int endpoints, std::size_t inbox_bytes);

  // Attaches to the fabric with these descriptors(), in a process that inherited them, and takes ownership of them.
  // Errors: INVALID_ARGUMENT (not such descriptors, or of another layout), others as for Segment::map.
  static absl::StatusOr<Fabric> attach(std::span<const int> descriptors);

  // Control segment, inboxes, bells: the descriptors that a child must inherit (set_inherited between fork and exec).
  std::vector<int> descriptors() const;

  int endpoints() const { return static_cast<int>(bells_.size()); }
  std::size_t inbox_bytes() const { return inbox_bytes_; }

  // The inbox that the endpoint had when this object was made, as mapped here.
  // REQUIRES: endpoint < endpoints(), here and below.
  std::span<std::byte> inbox(EndpointId endpoint) const;

  // Makes a new inbox for the endpoint's next incarnation; descriptors() and inbox() refer to it from now on. Returns
  // its descriptor, which the Fabric owns. Errors: RESOURCE_EXHAUSTED; then nothing has changed.
  // REQUIRES: no thread of this process uses the mapping of the old inbox any more.
  absl::StatusOr<int> renew_inbox(EndpointId endpoint);

  // Maps another endpoint's new inbox, read-write. Errors: INVALID_ARGUMENT (not an inbox of this fabric), others as
  // for Segment::map.
  absl::StatusOr<Segment> map_inbox(int fd) const;

  // `receiver` is ready for the messages of that incarnation of `sender`. Stores with release, and wakes the sender.
  // Called by the receiver only.
  void accept(EndpointId receiver, EndpointId sender, Incarnation incarnation);
  // Acquire: an endpoint that sees its own incarnation here also sees the receiver's inbox as prepared for it.
  Incarnation accepted(EndpointId receiver, EndpointId sender) const;

  SleepingWord& sleeping(EndpointId endpoint) const;
  const Doorbell& bell(EndpointId endpoint) const;

  bool asleep(EndpointId receiver) override { return sleeping(receiver).asleep(); }
  void ring(EndpointId receiver) override { bell(receiver).ring(sleeping(receiver)); }

  // Fence, and ring if asleep: after work was passed to an endpoint's loop by other means than the transport.
  void notify(EndpointId receiver);

 private:
  struct Inbox {
    Descriptor fd;
    Segment memory;
  };
  absl::StatusOr<Inbox> open_inbox(Descriptor fd) const;

  Fabric(std::string name, Segment control, Descriptor fd, std::size_t inbox_bytes);
  SharedCell<std::uint32_t>& accepted_word(EndpointId receiver, EndpointId sender) const;

  std::string name_;  // for the segments of later incarnations
  Segment control_;
  Descriptor control_fd_;
  std::vector<Inbox> inboxes_;   // index: endpoint
  std::vector<Doorbell> bells_;  // likewise
  std::size_t inbox_bytes_;
};

}  // namespace ingot::transport_host
