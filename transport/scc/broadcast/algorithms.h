// The factories of the algorithms, which are in the files of their families.
#pragma once

#include <memory>

#include "transport/scc/broadcast/broadcast.h"

namespace ingot::scc::inline transport_scc_broadcast {

using MadeBroadcast = std::unique_ptr<Broadcast>;

// rcce_trees.cc: sends of RCCE along a tree
MadeBroadcast make_rcce(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_binomial(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_scatter_allgather(Core& core, const BroadcastSetup& setup);  // scatter_allgather.cc
// parallel.cc
MadeBroadcast make_parallel(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_optimized_parallel(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_tiled_parallel(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_optimized_tiled_parallel(Core& core, const BroadcastSetup& setup);
// mpb.cc, off_chip.cc, modmpb.cc, hybrid.cc
MadeBroadcast make_mpb(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_off_chip(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_modmpb(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_hybrid(Core& core, const BroadcastSetup& setup);
// oc_bcast.cc: the pipeline of get_tree.h
MadeBroadcast make_oc_bcast(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_smelt(Core& core, const BroadcastSetup& setup);
MadeBroadcast make_ingot(Core& core, const BroadcastSetup& setup);
// async.cc
MadeBroadcast make_oc_bcast_async(Core& core, const BroadcastSetup& setup);

}  // namespace ingot::scc::transport_scc_broadcast
