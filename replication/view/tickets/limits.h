// Bounds of what is said on the view socket, and what happens at them.
#pragma once

#include <cstddef>

namespace ingot::inline replication_view_tickets {

// Of a prefix that a connection waits for; a longer one ends the connection.
inline constexpr std::size_t kWaitPrefixBytesMax = 4096;

// The text of an answer; longer ones are cut.
inline constexpr std::size_t kAnswerTextBytesMax = 1024;

}  // namespace ingot::replication_view_tickets
