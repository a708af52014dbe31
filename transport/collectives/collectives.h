// Collective operations over a tree, as schedules: broadcast, reduction, allreduce, barrier.
//
//   auto seat = TreeSeat::of(tree, members, self, endpoints);            // where this endpoint is in the tree
//   auto broadcast = make_broadcast(*seat, std::as_writable_bytes(std::span(values)));
//   engine.start(group, *broadcast);                                     // once per operation
//   ... the event loop polls the engine until broadcast->done() ...
//
// Every member makes its own schedule from the same tree, members, sizes and operator, and starts it as the group's next
// operation. A schedule may be started again and again: nothing is allocated. To have several operations in flight, make
// several. docs/collectives.md tells more.
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

namespace ingot {

// The neighbours of one endpoint in a tree. A plain value.
struct TreeSeat {
  EndpointId self{};
  int endpoints = 0;                 // of the fabric
  std::optional<EndpointId> parent;  // none: the root
  std::vector<EndpointId> children;  // in the tree's order

  // `members[i]` is the endpoint at the tree's core i. Errors: INVALID_ARGUMENT with one sentence: not a right tree, not
  // as many members as cores, a member that the fabric does not have or that is there twice, self not a member.
  static absl::StatusOr<TreeSeat> of(const Tree& tree, std::span<const EndpointId> members, EndpointId self,
                                     int endpoints);
};

// Below, `data` is 0 to kCollectiveBytesMax bytes long, as long at every member, and outlives the schedule.
// `chunk_bytes`, the same at every member: a longer payload travels in chunks of about that size.
// Errors of all: INVALID_ARGUMENT with one sentence.

// The root's data arrives in everybody's.
absl::StatusOr<Schedule> make_broadcast(const TreeSeat& seat, std::span<std::byte> data,
                                        std::size_t chunk_bytes = kChunkBytes);

// Everybody's data is combined, element by element, into the root's; that of inner members is used up as their
// subtree's sum, that of leaves stays. Each member combines its own element with its first child's result, then with the
// second child's, and so on: so operands keep the tree's order (preorder), and the same tree gives the same result to
// the last bit, whoever comes first.
// Errors also: no function, data that is not aligned or not a whole number of elements.
absl::StatusOr<Schedule> make_reduction(const TreeSeat& seat, const Reducer& reducer, std::span<std::byte> data,
                                        std::size_t chunk_bytes = kChunkBytes);

// A reduction whose result arrives in everybody's data.
absl::StatusOr<Schedule> make_allreduce(const TreeSeat& seat, const Reducer& reducer, std::span<std::byte> data,
                                        std::size_t chunk_bytes = kChunkBytes);

// Done here once everybody has started it.
absl::StatusOr<Schedule> make_barrier(const TreeSeat& seat);

}  // namespace ingot
