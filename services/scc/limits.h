// The bounds of an instance on the simulated chip.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_scc {

inline constexpr int kSccReplicasMax = 47;  // 48 cores less the gateway's

// A round is what the chip runs between two checks for input. Its virtual length starts at the minimum and doubles up
// to the maximum while there is no input and no reply.
inline constexpr std::uint64_t kRoundMinPs = 50'000'000;         // 50 us
inline constexpr std::uint64_t kRoundMaxPs = 20'000'000'000;     // 20 ms
inline constexpr std::size_t kReplicaStackBytes = 1024 * 1024;   // of each fibre; pages are allocated when touched
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 32;  // recording ends there, with a message
inline constexpr std::size_t kRecordLineBytesMax = 4 * 1024 * 1024;       // of a recording; a longer line is damaged

}  // namespace ingot::services_scc
