#include "services/serving/auto_compaction.h"

#include <algorithm>
#include <cstdint>

#include "replication/store/api.h"

namespace ingot::inline services_serving {

void AutoCompactor::tick() {
  const std::uint64_t due = view_.daemon->compact_to.get();
  std::uint64_t done = 0;
  for (const ReplicaPage* page : view_.replicas) {
    done = std::max(done, (*page)[ReplicaCounter::kStoreCompactRevision].get());
  }
  if (*asked_ || due <= done) return;
  *asked_ = true;
  const kv::Request request(kv::CompactRequest{static_cast<kv::Revision>(due)});
  client_.submit(RequestKind::kCommand, kv::encode(request), [asked = asked_](const ReplicaReply&) { *asked = false; });
}

}  // namespace ingot::services_serving
