// Bounds of active messages and groups.
#pragma once

#include <cstddef>

namespace ingot {

inline constexpr std::size_t kActiveMessageBytesMax = 1024 * 1024;  // one call or answer; a longer one is an error
inline constexpr std::size_t kCallsOutstandingMax = 1024;    // of one endpoint, without an answer; then "exhausted"
// Messages of one endpoint that wait for room to one peer; then further calls are "exhausted". Answers are taken all
// the same: peers have no more calls outstanding than the line above says.
inline constexpr std::size_t kWaitingMessagesMax = 1024;
inline constexpr std::size_t kObjectsMax = 65'536;           // of one endpoint
inline constexpr std::size_t kGroupMembersMax = 4096;        // of one group; an endpoint may have several
inline constexpr int kActiveMessagesPerPoll = 64;            // taken in one round

}  // namespace ingot
