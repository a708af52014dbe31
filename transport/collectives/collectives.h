// Collective operations over a tree, as schedules: broadcast, reduction, allreduce, barrier.
//
//   auto seat = TreeSeat::of(tree, members, self, endpoints);            // this endpoint's place in the tree
//   auto broadcast = make_broadcast(*seat, std::as_writable_bytes(std::span(values)));
//   engine.start(group, *broadcast);                                     // once per operation
//   ... the event loop polls the engine until broadcast->done() ...
//
// Every member makes its own schedule from the same tree, members, sizes and operator, and starts it as the group's
// next operation. A schedule may be started any number of times, without allocation. Several operations in flight need
// several schedules. See docs/collectives.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/planning/tree.h"
#include "core/types.h"
#include "transport/collectives/reducer.h"
#include "transport/collectives/schedule.h"
#include "transport/collectives/schedule_limits.h"

namespace ingot::inline transport_collectives {

// The neighbours of one endpoint in a tree. A plain value.
struct TreeSeat {
  EndpointId self{};
  int endpoints = 0;                 // of the fabric
  std::optional<EndpointId> parent;  // none: the root
  std::vector<EndpointId> children;  // in the tree's order

  // `members[i]` is the endpoint at the tree's core i. Errors: INVALID_ARGUMENT with one sentence: an invalid tree, not
  // as many members as cores, a member that is not in the fabric or occurs twice, self not a member.
  static absl::StatusOr<TreeSeat> of(const Tree& tree, std::span<const EndpointId> members, EndpointId self,
                                     int endpoints);
};

// For all functions below: `data` is 0 to kCollectiveBytesMax bytes long, equally long at all members, and outlives the
// schedule. A payload longer than `chunk_bytes`, which is the same at all members, travels in chunks of about that
// size; where no engine copies from memory to memory, kLineChunkBytes is faster. Errors: INVALID_ARGUMENT with one
// sentence.

// Copies the root's data into every member's.
absl::StatusOr<Schedule> make_broadcast(const TreeSeat& seat, std::span<std::byte> data,
                                        std::size_t chunk_bytes = kChunkBytes);

// Combines all members' data, element by element, into the root's. Inner members' data is overwritten with their
// subtree's partial result; leaves' data stays. Each member combines its own element with its first child's result,
// then with the second child's, and so on. So operands keep the tree's order (preorder), and the same tree gives the
// same result to the last bit, in whichever order messages come. Further errors: no function, data that is not aligned
// or not a whole number of elements.
absl::StatusOr<Schedule> make_reduction(const TreeSeat& seat, const Reducer& reducer, std::span<std::byte> data,
                                        std::size_t chunk_bytes = kChunkBytes);

// A reduction whose result is copied into all members' data.
absl::StatusOr<Schedule> make_allreduce(const TreeSeat& seat, const Reducer& reducer, std::span<std::byte> data,
                                        std::size_t chunk_bytes = kChunkBytes);

// Done here once all members have started it.
absl::StatusOr<Schedule> make_barrier(const TreeSeat& seat);

}  // namespace ingot::transport_collectives
