// OC-Bcast and two planned trees on the same pipeline (get_tree.h).
//
// oc-bcast  Petrovic et al. (papers, section 5): a k-ary tree by rank; a parent flags two children, and each notified
//           child its two siblings.
// smelt     a tree by Smelt's rule for the chip's own costs (papers, section 1); a parent flags its children in the
//           order that the planner chose. Messages that fit into one line are pushed, which is how Smelt sends.
// ingot     likewise by Ingot's planner: for messages of few chunks the tree with the shortest way to the last core,
//           for many the one whose busiest core is least busy. Children notify each other as in OC-Bcast.
#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/broadcast/get_tree.h"
#include "transport/scc/broadcast/planned_trees.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

class OcBcast : public GetTree {
 public:
  OcBcast(Core& core, const Group& group, int k) : GetTree(core, group, Notify::kSiblings, false), k_(k) {}

 private:
  Tree make_tree(int source, int) const override { return k_ary_tree(group_, source, k_); }
  const int k_;
};

class PlannedBroadcast : public GetTree {
 public:
  using Choose = const Tree& (PlannedTrees::*)(int, PlannedTrees::Kind);

  PlannedBroadcast(Core& core, const BroadcastSetup& setup, Notify notify, Choose choose)
      : GetTree(core, setup.group, notify, true), plans_(setup.plans), choose_(choose) {
    INGOT_CHECK(plans_ != nullptr, "a setup is prepared before it is used");
  }

 private:
  static constexpr int kChunksFactor = 1024;

  int kind_of(std::size_t bytes) const override {
    const PlannedTrees::Kind kind = PlannedTrees::kind_of(bytes);
    return static_cast<int>(kind.lines + kChunksFactor * kind.chunks);
  }
  Tree make_tree(int source, int kind) const override {
    const PlannedTrees::Kind planned{static_cast<std::size_t>(kind % kChunksFactor),
                                     static_cast<std::size_t>(kind / kChunksFactor)};
    return (plans_.get()->*choose_)(group_.rank(source), planned);
  }

  const std::shared_ptr<PlannedTrees> plans_;
  const Choose choose_;
};

}  // namespace

MadeBroadcast make_oc_bcast(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<OcBcast>(core, setup.group, setup.k);
}
MadeBroadcast make_smelt(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<PlannedBroadcast>(core, setup, GetTree::Notify::kParent, &PlannedTrees::smelt);
}
MadeBroadcast make_ingot(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<PlannedBroadcast>(core, setup, GetTree::Notify::kSiblings, &PlannedTrees::ingot);
}

}  // namespace ingot::scc::transport_scc_broadcast
