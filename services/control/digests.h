// Asks every replica for the digest of its state.
#pragma once

#include <functional>
#include <vector>

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/client/replica_client.h"

namespace ingot::inline services_control {

// Asks `replicas` and calls `done` once, when all have answered or ReplicaClient has given up: from the client's thread
// or, if `replicas` is empty, before this returns. Entries come in the order of `replicas`; an entry without a digest
// got no answer. Thread-safe; `client` must outlive the call of `done`.
void gather_digests(ReplicaClient& client, const std::vector<EndpointId>& replicas,
                    std::function<void(const ::ingot::control::v1::GetDigestsResponse&)> done);

}  // namespace ingot::services_control
