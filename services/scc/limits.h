// The bounds of an instance on the simulated chip.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

inline constexpr int kSccReplicasMax = 47;  // 48 cores, and one is the gateway's

// A round is what the chip runs between two looks at the outside world: so long in virtual time, then twice that and so
// on up to the maximum while nothing comes in or goes out.
inline constexpr std::uint64_t kRoundMinPs = 50'000'000;         // 50 us
inline constexpr std::uint64_t kRoundMaxPs = 20'000'000'000;     // 20 ms
inline constexpr std::size_t kReplicaStackBytes = 1024 * 1024;   // of each fibre; memory where it is used
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 32;  // then recording ends, and says so
inline constexpr std::size_t kRecordLineBytesMax = 4 * 1024 * 1024;       // of a recording; a longer line is no record

}  // namespace ingot
