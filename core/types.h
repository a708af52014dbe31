// The distinct integer types of Ingot: the compiler tells a slot from an epoch and a core from an endpoint.
//
// All are regular value types, hashable with absl::Hash, printable, and safe to use from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

namespace ingot::inline core {

// An integer of its own type. `Tag` makes it distinct; there is no implicit conversion in or out.
template <typename Tag, typename Rep>
class Id {
 public:
  using rep = Rep;

  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;
  constexpr Id next() const { return Id(static_cast<Rep>(value_ + 1)); }
  constexpr Id plus(Rep n) const { return Id(static_cast<Rep>(value_ + n)); }

  template <typename H>
  friend H AbslHashValue(H h, const Id& id) {
    return H::combine(std::move(h), id.value_);
  }
  friend std::ostream& operator<<(std::ostream& out, const Id& id) { return out << +id.value_; }

 private:
  Rep value_{};
};

// Where a process runs: an operating-system core number (host) or a core of the chip (SCC).
using CoreId = Id<struct CoreTag, std::uint16_t>;

// A source or target of messages. Replica n of a group is endpoint n; the front end and clients come after. Several
// endpoints may share a core.
using EndpointId = Id<struct EndpointTag, std::uint16_t>;

// Which process of an endpoint: 1 for the first, one more for each restart. Never used twice.
using Incarnation = Id<struct IncarnationTag, std::uint32_t>;

// A place in the agreed order of commands. The first slot is 0.
using Slot = Id<struct SlotTag, std::uint64_t>;

// Index of the configuration entry that gave or renewed a leadership (docs/agreement.md). 0: none.
using Ballot = Id<struct BallotTag, std::uint64_t>;

// Index of the last AcceptorChange in the configuration log. 0: none.
using Epoch = Id<struct EpochTag, std::uint64_t>;

// Processor cycles, as counted by the machine that runs the protocol (time stamp counter, or virtual time).
using Cycles = Id<struct CyclesTag, std::uint64_t>;

}  // namespace ingot::core
