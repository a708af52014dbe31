// Trees for a group of cores by Ingot's planners, from the chip's constants; nothing is measured.
//
// The costs of get_tree.h's pipeline, as pairwise costs: a parent is busy with a child for one flag; a child with its
// parent for reading its flag, the get of a chunk and its done flag. All from the chip's tables for idle cores, without
// queues at the MPBs' ports. Both are for chunks of a given number of lines. If a message is pushed, a parent is busy
// for the line and a child for reading it.
//
// Thread safety: used by one thread, like the chip.
#pragma once

#include <map>
#include <tuple>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "transport/scc/chip.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_broadcast {

// In core cycles, with the cores of the group by rank. `lines`: of a chunk, at most kGetChunkLines; 0: a pushed line.
::ingot::CostModel model_of_gets(const Group& group, const ChipOptions& options, std::size_t lines);

// How long a core is busy with a chunk besides messages to and from others: private memory <-> own MPB.
double private_copy_cycles(const ChipOptions& options, std::size_t lines);

class PlannedTrees {
 public:
  PlannedTrees(const Group& group, const ChipOptions& options) : group_(group), options_(options) {}

  // The classes that messages are planned as: the chunk's lines (rounded up to a power of two, or a whole chunk; 0:
  // pushed) and the number of chunks (rounded likewise), so that there are few of them.
  struct Kind {
    std::size_t lines = 1;
    std::size_t chunks = 1;
    auto operator<=>(const Kind&) const = default;
  };
  static Kind kind_of(std::size_t bytes);

  // By Smelt's rule: the broadcast tree for one chunk, whatever the number of chunks.
  const Tree& smelt(int source_rank, Kind kind);
  // The better of two by fill + (chunks - 1) x bottleneck: one planned for one broadcast, one for throughput.
  const Tree& ingot(int source_rank, Kind kind);

 private:
  const Group group_;
  const ChipOptions options_;
  std::map<std::tuple<bool, int, Kind>, Tree> trees_;
};

}  // namespace ingot::scc::transport_scc_broadcast
