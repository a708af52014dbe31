// Where a replica reports what the commands that it applies have done.
#pragma once

#include "core/types.h"
#include "replication/replica/applier.h"

namespace ingot::inline replication_replica {

// Called on the replica's loop, in the order of the log, before the command's answer is sent. A sink of events (a
// watch) belongs here: it may cause further answers, but changes nothing that is replicated.
class AppliedSink {
 public:
  virtual ~AppliedSink() = default;

  virtual void applied(Slot slot, const Applier::Applied& applied) = 0;
};

}  // namespace ingot::replication_replica
