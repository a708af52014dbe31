// The pages of a running instance, as a reader sees them.
#pragma once

#include <vector>

#include "replication/pages/pages.h"

namespace ingot {

// Read-only access to the pages of a running instance. Thread-safe: pages are made of Counters.
struct InstanceView {
  const DaemonPage* daemon = nullptr;
  std::vector<const ReplicaPage*> replicas;  // index = replica id
};

}  // namespace ingot
