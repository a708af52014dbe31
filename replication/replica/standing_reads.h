// Standing queries that clients have asked of a replica and that wait for something to say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "core/types.h"
#include "replication/store/state_machine.h"

namespace ingot::inline replication_replica {

// One of each client: a later one takes the place of the one before, which its client has given up. So there are never
// more than endpoints. Not thread-safe; used by its replica's core only.
class StandingReads {
 public:
  // `sequence`: of the client's request. One that comes late, behind a later one, is dropped. `now_ns`: of a steady
  // clock, as for answer_next.
  void park(EndpointId client, std::uint64_t sequence, std::unique_ptr<StandingQuery> query, std::uint64_t now_ns);

  // Looks at the queries until one has an answer that `send` takes; false: there is none. One that waits for
  // kStandingOverdueMs is overdue. To be called when the state may have moved.
  using Send = absl::FunctionRef<bool(EndpointId client, std::uint64_t sequence, std::string_view answer)>;
  bool answer_next(std::uint64_t now_ns, Send send);

  std::size_t size() const { return parked_.size(); }

 private:
  struct Parked {
    std::uint64_t sequence = 0;
    std::uint64_t since_ns = 0;
    std::unique_ptr<StandingQuery> query;
  };

  std::map<EndpointId, Parked> parked_;
};

}  // namespace ingot::replication_replica
