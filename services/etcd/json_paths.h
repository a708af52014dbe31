// The paths of etcd's JSON gateway.
#pragma once

#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Adds each of them under /v3/ and under /v3beta/, as etcd 3.4 and later have them. A method whose messages this
// program does not know takes any object, and answers that no service has it.
void add_json_paths(rpc::Methods& methods);

}  // namespace ingot::etcd
