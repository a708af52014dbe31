#include "transport/scc/broadcast/broadcast.h"

#include "absl/strings/str_cat.h"
#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/planned_trees.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

constexpr BroadcastAlgorithm kAlgorithms[] = {
    {"rcce", "the source sends to every other core in turn", make_rcce},
    {"parallel", "cores forward to their neighbours on the grid of cores", make_parallel},
    {"optimized-parallel", "as parallel, from a core in the middle", make_optimized_parallel},
    {"tiled-parallel", "tiles forward to neighbouring tiles, 8 KiB at a time", make_tiled_parallel},
    {"optimized-tiled-parallel", "as tiled-parallel, from a tile in the middle", make_optimized_tiled_parallel},
    {"mpb", "all read the source's message buffer at the same time", make_mpb},
    {"off-chip", "through shared off-chip memory", make_off_chip},
    {"modmpb", "a broadcaster for every 12 cores; receivers copy into their own message buffer first", make_modmpb},
    {"hybrid", "off-chip, mpb or modmpb by size", make_hybrid},
    {"binomial", "RCCE_comm's binomial tree of sends", make_binomial},
    {"scatter-allgather", "RCCE_comm's binomial scatter and ring", make_scatter_allgather},
    {"oc-bcast", "OC-Bcast: a pipelined k-ary tree of on-chip gets", make_oc_bcast},
    {"oc-bcast-async", "the same, driven by parallel interrupts, with many sources at once", make_oc_bcast_async},
    {"smelt", "the pipeline on a tree by Smelt's rule, from the chip's own costs", make_smelt},
    {"ingot", "the pipeline on Ingot's planned trees, one for few chunks and one for many", make_ingot},
};

}  // namespace

void Broadcast::broadcast(const Message& message) {
  INGOT_CHECK(group_.contains(message.source), "the source takes part in its broadcast");
  if (core_.id() == message.source) delivered();
  if (message.bytes == 0 || group_.size() == 1) return delivered();
  core_.trace_begin("broadcast");
  run(message);
  core_.trace_end();
}

void Broadcast::broadcast_all(std::span<const Message> messages) {
  for (const Message& message : messages) broadcast(message);
}

std::span<const BroadcastAlgorithm> broadcast_algorithms() { return kAlgorithms; }

const BroadcastAlgorithm* find_broadcast(std::string_view name) {
  for (const BroadcastAlgorithm& each : kAlgorithms) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

absl::Status prepare(BroadcastSetup& setup, const ChipOptions& options) {
  if (setup.k < 1 || setup.k > kTreeChildrenMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a core cannot have ", setup.k, " children in a tree: k is from 1 to ", kTreeChildrenMax));
  }
  setup.plans = std::make_shared<PlannedTrees>(setup.group, options);
  return absl::OkStatus();
}

}  // namespace ingot::scc::transport_scc_broadcast
