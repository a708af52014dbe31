// Bounds of this machine's shared memory and of how its loops wait, with their units.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline transport_host {

inline constexpr std::size_t kSegmentBytesMax = std::size_t{64} << 30;  // one segment, sparse; more is refused
// How long a loop with nothing to do spins on a core of its own before it gives way; a sleep costs as much to end.
inline constexpr std::uint64_t kSpinNs = 50'000;
// An idle loop that was away from its core for longer concludes that another thread wants the core; it then does not
// spin for kNoSpinNs.
inline constexpr std::uint64_t kCoreWantedNs = 5'000;
inline constexpr std::uint64_t kNoSpinNs = 10'000'000;
// A yield that lasted longer went to a thread that computes, and not to loops that look for messages. The scheduler
// makes a thread that yields wait until the others have had as much; one that sleeps runs soon after it is woken. So
// the loop sleeps at once for the next kNoYieldNs, and twice as long each further time in a row, up to kNoYieldNsMax.
inline constexpr std::uint64_t kCoreTakenNs = 500'000;
inline constexpr std::uint64_t kNoYieldNs = 20'000'000;
inline constexpr std::uint64_t kNoYieldNsMax = 1'000'000'000;
// Rounds with sched_yield before an idle loop sleeps.
inline constexpr int kYieldsOwnCore = 4;
inline constexpr int kYieldsSharedCore = 32;
// How often a busy loop checks its watched descriptors.
inline constexpr std::uint64_t kDescriptorPollNs = 5'000'000;
// Sleeps in a row that readable() prevents although no poll finds work. At the limit the loop sleeps all the same, for
// at most kSpuriousWakeupSleepNs at a time.
inline constexpr int kSpuriousWakeupsMax = 1000;
inline constexpr std::uint64_t kSpuriousWakeupSleepNs = 1'000'000;

}  // namespace ingot::transport_host
