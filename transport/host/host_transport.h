// Transports of this machine: endpoints are threads or processes that map the same inboxes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/types.h"
#include "transport/channel_transport.h"
#include "transport/transport_kind.h"
#include "transport/waker.h"

namespace ingot::inline transport_host {

// Bytes of one inbox in a fabric of that many endpoints (1 to kChannelEndpointsMax). Zero-filled memory is an empty
// inbox. Unused parts are never touched, so a sparse mapping costs only what is used.
std::size_t inbox_bytes(TransportKind kind, int endpoints);

// `inboxes`: by endpoint, as mapped here, each at least inbox_bytes(kind, inboxes.size()) long and aligned to 64 bytes.
// They, `waker` and the counters outlive the transport. All endpoints of a fabric use the same kind. An endpoint may
// send before its receiver's transport is made. A new incarnation of an endpoint gets a new, zero-filled inbox.
// `links`: by peer; peers beyond its size are not counted.
std::unique_ptr<ChannelTransport> make_transport(TransportKind kind, std::vector<std::span<std::byte>> inboxes,
                                                 EndpointId self, Waker& waker, std::vector<LinkHooks> links);

}  // namespace ingot::transport_host
