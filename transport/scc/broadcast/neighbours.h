// Trees in which cells of a grid forward to their neighbours (papers, section 4: parallel and its kin).
#pragma once

#include <array>
#include <vector>

#include "transport/scc/geometry.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_broadcast {

// The receivers of each core, in order; by core.
using Forwarding = std::array<std::vector<int>, kCores>;

// A cell is a core (12 x 4 cells), or a tile (6 x 4), whose left core, or only one, receives and forwards for both.
enum class Cells { kCores, kTiles };

// From the source; or, if `from_centre` and it lies on the edge, from the centre of the largest full rectangle of
// cells.
Forwarding forward_to_neighbours(const Group& group, int source, Cells cells, bool from_centre);

}  // namespace ingot::scc::transport_scc_broadcast
