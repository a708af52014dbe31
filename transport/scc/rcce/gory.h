// RCCE's lower interface, which its authors call gory: its user places data and flags in the message buffers (MPBs) by
// hand. One object a core, used by that core's program.
//
// Allocation is symmetric: all cores make the same calls in the same order, and so get the same lines, each in its own
// MPB, without communication.
//
//    line 0 ............................. 253   254             255
//    |  blocks and flags, first fit        |   barrier: here   barrier: go on
//
// Rules of the chip that put and get keep (papers: RCCE): MPB-typed lines are dropped from L1 before anything is read,
// and the write-combining buffer is flushed after anything was written. A core spins on flags of its own MPB only.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/scc/core.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_rcce {

inline constexpr std::size_t kBarrierHereLine = kMpbLinesPerCore - 2;
inline constexpr std::size_t kBarrierGoLine = kMpbLinesPerCore - 1;
inline constexpr std::size_t kGoryLines = kBarrierHereLine;

// Lines of an MPB, the same of every core.
struct MpbBlock {
  std::size_t line = 0;
  std::size_t lines = 0;
};

// One line that holds a word. A new flag is 0 if its line was never used.
struct MpbFlag {
  std::size_t line = 0;
};

// ---- Accesses, for protocols with their own layout ----

// Sets a flag on any core; on return it is set there.
void write_flag(Core& core, MpbFlag flag, std::uint32_t value, int at_core);
std::uint32_t read_flag(Core& core, MpbFlag flag, int at_core);
// Spins on a flag of the own MPB.
void wait_flag(Core& core, MpbFlag flag, std::uint32_t value, const char* what);
// Waits until the flag, a sequence number that wraps, has reached `value`.
void wait_flag_reached(Core& core, MpbFlag flag, std::uint32_t value, const char* what);

// Private memory -> an MPB.
// REQUIRES: the bytes lie within that core's half of the MPB; likewise below.
void put(Core& core, int to_core, std::size_t to_line, Address from, std::size_t bytes);
// An MPB -> private memory.
void get(Core& core, Address to, int from_core, std::size_t from_line, std::size_t bytes);
// An MPB -> this core's MPB. Whole lines travel.
void get_to_mpb(Core& core, std::size_t to_line, int from_core, std::size_t from_line, std::size_t bytes);

constexpr std::size_t lines_of(std::size_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes; }

// Every core flips a flag in its own MPB; the first core reads them all, then releases each. Collective; what a core
// wrote before, others see after (they must drop their MPB lines). Its state is in the MPB, so several objects of a
// core may use it in turn.
// REQUIRES: all cores of the group have taken part in equally many barriers of this chip.
void barrier(Core& core, const Group& group);

// ---- Allocation ----

class RcceGory {
 public:
  explicit RcceGory(Core& core) : core_(core) {}

  // First fit, in whole lines. Nothing if there is no room.
  // REQUIRES: bytes > 0.
  std::optional<MpbBlock> allocate(std::size_t bytes);
  std::optional<MpbFlag> allocate_flag();
  void release(MpbBlock block);
  void release(MpbFlag flag) { release(MpbBlock{flag.line, 1}); }

  Core& core() { return core_; }

 private:
  Core& core_;
  std::bitset<kGoryLines> used_;
};

}  // namespace ingot::scc::transport_scc_rcce
