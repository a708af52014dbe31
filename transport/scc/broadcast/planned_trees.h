// Trees for a group of cores by Ingot's planners, from the chip's own constants; nothing is measured.
//
// What the pipeline of get_tree.h costs, as pairwise costs: a parent is busy with a child for one flag, and a child with
// its parent for a look at its flag, the get of a chunk and its done flag. All by the chip's tables, for cores that
// are alone; queues at the ports of MPBs are not in it. Both are for chunks of a given number of lines. Where a message
// is pushed, a parent is busy for the line and a child for looking at it.
//
// Thread safety: for one thread, as the chip.
#pragma once

#include <map>
#include <tuple>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "transport/scc/chip.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc {

// Cores of the group by rank. In core cycles. `lines`: of a chunk, at most kGetChunkLines; 0: a line that is pushed.
::ingot::CostModel model_of_gets(const Group& group, const ChipOptions& options, std::size_t lines);

// How long a core is busy with a chunk beside messages to and from others: private memory <-> own MPB.
double private_copy_cycles(const ChipOptions& options, std::size_t lines);

class PlannedTrees {
 public:
  PlannedTrees(const Group& group, const ChipOptions& options) : group_(group), options_(options) {}

  // What a message is planned as: its chunk's lines (rounded up to a power of two, or a whole chunk; 0: pushed), and the
  // number of chunks (rounded likewise), so that there are few kinds.
  struct Kind {
    std::size_t lines = 1;
    std::size_t chunks = 1;
    auto operator<=>(const Kind&) const = default;
  };
  static Kind kind_of(std::size_t bytes);

  // By Smelt's rule: the broadcast tree for one chunk, whatever their number.
  const Tree& smelt(int source_rank, Kind kind);
  // The better of two by fill + (chunks - 1) x bottleneck: planned for one broadcast, planned for throughput.
  const Tree& ingot(int source_rank, Kind kind);

 private:
  const Group group_;
  const ChipOptions options_;
  std::map<std::tuple<bool, int, Kind>, Tree> trees_;
};

}  // namespace ingot::scc
