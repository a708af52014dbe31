// Ticks: the commands by which the time of a state passes, equally on all replicas.
//
// The replica that leads proposes them (replication/replica/state_clock.h). Code that accepts commands from outside
// must refuse those that begin like a tick.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/wire.h"

namespace ingot::inline replication_store {

struct Tick {
  std::uint64_t leadership = 0;  // of the replica that has proposed it
  std::uint64_t number = 0;      // ascends; one that is not above the last one's is void
  std::uint32_t ms = 0;          // that have passed since the tick before, at most kTickMaxMs
  bool operator==(const Tick&) const = default;
};

inline constexpr std::uint8_t kTickTag = 12;  // the first byte of the command

//   tick  u8 kTickTag  u64 leadership  u64 number  u32 ms
inline std::string encode(const Tick& tick) {
  return WireWriter().u8(kTickTag).u64(tick.leadership).u64(tick.number).u32(tick.ms).take();
}

inline bool is_tick(std::string_view command) {
  return !command.empty() && static_cast<std::uint8_t>(command.front()) == kTickTag;
}

}  // namespace ingot::replication_store
