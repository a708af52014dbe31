// The classes of messages between the endpoints of a group.
#pragma once

#include <cstdint>

namespace ingot::inline replication_requests {

// First byte of every message between replicas and between clients and replicas: selects the handler.
enum class MessageClass : std::uint8_t {
  kAgreement = 1,  // Agreement::receive
  kRequest = 2,    // a client's request to a replica (replication/requests/request.h)
  kResponse = 3,   // a replica's answer to a client
  kRelayed = 4,    // a broadcast that travels along a tree (replication/replica/trees/relay.h)
  kCombined = 5,   // equal answers of several replicas, on their way up a tree (replication/replica/trees/combiner.h)
  kSnapshot = 6,   // a snapshot's transfer (replication/replica/snapshots/messages.h)
};

}  // namespace ingot::replication_requests
