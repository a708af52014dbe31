// Bounds of the view socket, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_view_tickets {

// Connections at a time, those that wait for a change included, and those of one user. Further ones are told so and
// closed. Each may hold two descriptors in flight that its client has not received, which the kernel counts against
// the daemon's user: one that ends keeps its place until they are received, or its client has closed it.
inline constexpr std::size_t kViewConnectionsMax = 1024;
inline constexpr std::size_t kViewConnectionsPerUserMax = 256;

// Connections that are accepted in one round of the loop.
inline constexpr int kAcceptsPerRound = 16;
// After so long the publisher looks again for connections when it has no descriptor for one.
inline constexpr std::uint64_t kAcceptRetryMs = 100;
// Connections that have ended, and whose clients have not received everything, are looked at once in so long.
inline constexpr std::uint64_t kEndedLookMs = 100;

// Waiting connections are looked at once in so long, so many of them in one round, and for each so many changes.
inline constexpr std::uint64_t kWaitSweepNs = 1'000'000;
inline constexpr std::size_t kWaitsPerRound = 128;
inline constexpr std::size_t kWaitChangesPerLook = 256;

// Changes that are kept for connections that wait; of older ones each that waits is told that it may have passed.
inline constexpr std::size_t kWaitChangesMax = 16 * 1024;
inline constexpr std::size_t kWaitChangesBytesMax = 1024 * 1024;

}  // namespace ingot::services_view_tickets
