// How far the state must have come that answers a local query.
//
// A client asks for it, so that it never reads what is older than something that it has seen. Queries do not belong to
// the session of a client's commands; so the header's field for how far that one has come has this slot of a local
// query.
#pragma once

#include "core/types.h"
#include "replication/requests/request.h"

namespace ingot::inline replication_requests {

// REQUIRES of both: the request is a kLocalQuery.
inline void set_floor(Request& request, Slot floor) { request.acknowledged_below = floor.value(); }
// Slots below it are to be applied.
inline Slot floor_of(const Request& request) { return Slot(request.acknowledged_below); }

}  // namespace ingot::replication_requests
