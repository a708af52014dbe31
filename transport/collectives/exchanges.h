// Collectives in which each member has a block of its own: gather, scatter, allgather, all-to-all, as schedules.
//
// Short blocks travel together along the tree, so that a member sends few messages. Blocks of kOneCopyBytes and more go
// from the member that has them straight to the member that needs them, in chunks of kChunkBytes; all-to-all does that
// with all blocks. Blocks of one operation are equally long.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/planning/tree.h"
#include "core/types.h"
#include "transport/collectives/schedule.h"

namespace ingot::inline transport_collectives {

// The same at all members. A plain value.
struct MemberGroup {
  Tree tree;                        // its root gathers and scatters
  std::vector<EndpointId> members;  // members[i] is the endpoint at the tree's core i
  int endpoints = 0;                // of the fabric
};

// For all functions below: `self` is a member. Blocks are numbered as members are. All memory outlives the schedule.
// Blocks of all members together are 0 to kCollectiveBytesMax bytes. Errors: INVALID_ARGUMENT with one sentence: as for
// TreeSeat::of, memory of a wrong length.

// Copies each member's block into the root's `all`, which is empty elsewhere. The root's block may be in its place.
absl::StatusOr<Schedule> make_gather(const MemberGroup& group, EndpointId self, std::span<const std::byte> block,
                                     std::span<std::byte> all);

// Copies each block of the root's `all`, which is empty elsewhere, into its member's `block`. The root's block may be
// in its place.
absl::StatusOr<Schedule> make_scatter(const MemberGroup& group, EndpointId self, std::span<const std::byte> all,
                                      std::span<std::byte> block);

// Copies each member's block into every member's `all`. A member's own block may be in its place.
absl::StatusOr<Schedule> make_allgather(const MemberGroup& group, EndpointId self, std::span<const std::byte> block,
                                        std::span<std::byte> all);

// Copies block j of each member i's `from` to block i of member j's `to`. The two do not overlap.
absl::StatusOr<Schedule> make_all_to_all(const MemberGroup& group, EndpointId self, std::span<const std::byte> from,
                                         std::span<std::byte> to);

}  // namespace ingot::transport_collectives
