#include "replication/replica/trees/table.h"

#include <utility>

#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {

bool TreeTable::apply(std::string_view change) {
  auto set = decode_tree_set(change, replicas());
  if (!set || set->version != version() + 1) return false;
  sets_.push_back(std::move(*set));
  if (sets_.size() > kTreeVersionsKept) sets_.pop_front();
  return true;
}

void TreeTable::install(TreeSet set) {
  sets_.clear();
  sets_.push_back(std::move(set));
}

const RootedTree* TreeTable::find(std::uint32_t version, int root) const {
  for (const TreeSet& set : sets_) {
    if (set.version == version) return set.of(root);
  }
  return nullptr;
}

}  // namespace ingot::replication_replica_trees
