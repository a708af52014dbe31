// Small messages between simulated cores by any of four protocols behind one interface, and collectives over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/scc/chip.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc {

inline constexpr std::size_t kLinkBytesMax = 1024;

// One object a core, used by that core's program only.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  virtual void send(int to_core, std::span<const std::byte> message) = 0;
  // The next message from that core. REQUIRES: it is as long as `out`.
  virtual void receive(int from_core, std::span<std::byte> out) = 0;
};

enum class CollectiveOperation : std::uint8_t { kBroadcast, kReduction, kBarrier };

class LinkProtocol {
 public:
  // "nvp", "srbp", "srbp-plain", "rcce" or "rckmpi", for a group on one chip. Errors: INVALID_ARGUMENT.
  static absl::StatusOr<std::unique_ptr<LinkProtocol>> create(std::string_view name, const Group& group);
  virtual ~LinkProtocol() = default;
  virtual std::unique_ptr<Link> make(Core& core) const = 0;
};

// Runs on all cores of the group; the root is the first. A broadcast takes the root's value to all; a reduction brings
// the sum to the root (the other cores get their own value back); a barrier is both. Along a binomial tree.
std::uint64_t collective(Link& link, Core& core, const Group& group, CollectiveOperation operation,
                         std::uint64_t value);
// As in RCCE: the root sends to, or receives from, every other core in turn; its barrier is its own.
std::uint64_t linear_collective(Link& link, Core& core, const Group& group, CollectiveOperation operation,
                                std::uint64_t value);

struct RoundTrip {
  int from = 0, to = 1;
  std::size_t bytes = 16;
  int cores = kCores;  // the cores of the protocol: 0 to cores - 1
  int round_trips = 50;
};
// Mean in core cycles. Errors: INVALID_ARGUMENT; INTERNAL if a message arrives wrong; those of Chip::run.
absl::StatusOr<double> measure_round_trip(const ChipOptions& options, std::string_view protocol, const RoundTrip& trip);

// From the begin at all cores to the end at the last, in core cycles, mean of `repetitions`. Errors as above.
absl::StatusOr<double> measure_collective(const ChipOptions& options, std::string_view protocol, int cores,
                                          CollectiveOperation operation, int repetitions);

}  // namespace ingot::scc
