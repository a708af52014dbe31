// The pages of a running instance, as a reader sees them.
#pragma once

#include <vector>

#include "replication/pages/pages.h"

namespace ingot::inline replication_pages {

// Whether a process has a supervisor, as its own loop sees it. In that process's memory; its loop is the only writer.
struct SupervisorLoss {
  Counter since_ns;   // CLOCK_MONOTONIC of the supervisor's end, set with release; 0: there is a supervisor
  Counter leaves_ns;  // when the process leaves if no other supervisor adopts it; set before since_ns

  bool lost() const { return since_ns.get_acquire() != 0; }
};

// Read-only access to the pages of a running instance. Thread-safe: pages are made of Counters.
struct InstanceView {
  const DaemonPage* daemon = nullptr;
  std::vector<const ReplicaPage*> replicas;  // index = replica id
  const SupervisorLoss* loss = nullptr;      // of the reading process; null: it does not know
};

}  // namespace ingot::replication_pages
