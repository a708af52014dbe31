// Bounds of calls that are passed on, and what happens at them.
#pragma once

#include <cstddef>

namespace ingot::rpc::inline passing {

// Calls that are passed on at a time, of all connections of one listener (TCP, Unix socket), and of one caller (a TCP
// connection, or a process at the Unix socket). Beyond the caller's bound a call is refused with RESOURCE_EXHAUSTED.
// Beyond the listener's bound a new call ends another one with RESOURCE_EXHAUSTED: of the caller that has the most
// calls of the loop, the call that has been idle for longest. So calls that last for long do not keep out short ones.
// The two listeners are counted apart, so that strangers cannot lock out the users of the Unix socket.
inline constexpr int kPassedCallsMax = 1024;
inline constexpr int kPassedCallsPerCallerMax = 256;
// A loop takes on so many calls of a listener in any case, whatever other loops hold.
inline constexpr int kPassedCallsReserved = 64;
// Calls of a loop that had to give way to others and that gRPC C++ has not ended yet. At the bound new calls are
// refused.
inline constexpr int kPassedCallsEndingMax = 256;

// Calls that a loop gives to gRPC C++ in each round, round-robin between callers; others wait for the next round.
// Giving it one takes the loop some 20 to 50 us, so a thousand at once would hold up all other clients.
inline constexpr int kPassedStartsPerRound = 4;
// Likewise: calls whose caller's call is over, and which gRPC C++ is told to end. That may wait for gRPC's threads: a
// round of 40 reads, each with a call for which another one had to give way, took 61 ms.
inline constexpr int kPassedCancelsPerRound = 4;

// Of a loop: both together in a second, and so many at once after a pause; others wait. A call's start and end cost
// gRPC's threads some 100 us of a core, so a client that opens and drops such calls without end takes a tenth of a core
// from others.
inline constexpr int kPassedTurnsPerSecond = 1'000;
inline constexpr int kPassedTurnsBurst = 64;

// What counts as freed when gRPC C++ has ended a call, in bytes; measured were some 35 KiB.
inline constexpr std::size_t kPassedCallBytes = 64 * 1024;

// Metadata of a client that is passed on with one call, in bytes of names and values; the rest is dropped.
inline constexpr std::size_t kPassedMetadataBytesMax = 8 * 1024;

static_assert(kPassedCallsPerCallerMax <= kPassedCallsMax);
static_assert(kPassedCallsReserved <= kPassedCallsPerCallerMax);

}  // namespace ingot::rpc::passing
