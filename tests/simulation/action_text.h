// A replica's actions as text, for traces.
#pragma once

#include <string>

#include "replication/replica/action.h"

namespace ingot::simulation {

// "0 -> 1  Accept ...", "1 decides slot 0", ...
std::string describe(int replica, const Action& action);

}  // namespace ingot::simulation
