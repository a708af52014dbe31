// Transports of the simulated chip: NVP and SRBP, from the same templates as on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/channel_transport.h"
#include "transport/scc/core.h"
#include "transport/scc/scc_memory.h"
#include "transport/transport.h"
#include "transport/transport_kind.h"

namespace ingot::scc::inline transport_scc {

// The endpoints of one fabric and their inboxes: plain values, the same for all endpoints.
struct ChipFabric {
  TransportKind kind{};
  std::vector<int> cores;      // by endpoint
  std::vector<Inbox> inboxes;  // likewise
  int slots_per_sender = 0;    // as many as fit, rounded down to a power of two
};

// Places the inboxes at lines `first_line` to first_line + lines - 1 of each core's MPB. One endpoint a core. Errors:
// INVALID_ARGUMENT (core numbers, two endpoints on a core, lines; that many endpoints do not fit).
absl::StatusOr<ChipFabric> lay_out(TransportKind kind, std::span<const int> cores, std::uint32_t first_line = 0,
                                   std::uint32_t lines = kMpbLinesPerCore);

// One endpoint's transport. This function and the transport are used on the fibre of fabric.cores[self]. There are no
// doorbells here: a receiver polls with wait_readable. `weakened`: for tests, see SccMemory.
std::unique_ptr<Transport> make_chip_transport(const ChipFabric& fabric, Core& core, EndpointId self,
                                               std::vector<LinkHooks> links = {}, Site weakened = Site::kCount);

// Polls until the transport is readable, or the inbox of a peer in `full` was written, so that there may be room again.
// Checks once more when an interrupt was handled or Chip::ring was called. False at the deadline.
bool wait_readable(const ChipFabric& fabric, Core& core, Transport& transport,
                   Picoseconds deadline_ps = ~Picoseconds{0}, std::span<const EndpointId> full = {});

}  // namespace ingot::scc::transport_scc
