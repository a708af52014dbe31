// Automatic compaction, the front end's part: compacts to the revision that the supervisor names on DaemonPage.
#pragma once

#include <memory>

#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"

namespace ingot::inline services_serving {

// What is due and what is done stand on the pages, so a front end that dies leaves nothing undone. Used by the client's
// thread.
class AutoCompactor {
 public:
  // Both outlive the object.
  AutoCompactor(ReplicaClient& client, const InstanceView& view) : client_(client), view_(view) {}

  // Asks for the compaction that is due, unless it was asked for and not answered yet. To be called again and again: a
  // compaction that failed is then asked for anew.
  void tick();

 private:
  ReplicaClient& client_;
  const InstanceView& view_;
  const std::shared_ptr<bool> asked_ = std::make_shared<bool>(false);  // an answer may come after the object's end
};

}  // namespace ingot::services_serving
