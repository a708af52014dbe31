// Bounds of active messages and groups, with what happens at each.
#pragma once

#include <cstddef>

namespace ingot::inline transport_collectives_groups {

inline constexpr std::size_t kActiveMessageBytesMax = 1024 * 1024;  // one call or answer; longer is an error
inline constexpr std::size_t kCallsOutstandingMax = 1024;           // of one endpoint, unanswered
// Messages of one endpoint that wait for room to one peer; beyond, calls fail with RESOURCE_EXHAUSTED. Answers are
// accepted all the same: the bound above limits the peers' outstanding calls.
inline constexpr std::size_t kWaitingMessagesMax = 1024;
inline constexpr std::size_t kObjectsMax = 65'536;           // of one endpoint
inline constexpr std::size_t kGroupMembersMax = 4096;        // of one group; an endpoint may have several
inline constexpr int kActiveMessagesPerPoll = 64;            // processed in one round

}  // namespace ingot::transport_collectives_groups
