// Which keys are attached to which leases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "core/check.h"
#include "replication/store/quota.h"

namespace ingot::kv {

// Follows from the versions of a store: a key that exists is attached to the lease that its newest version names. The
// views are of the keys' records. Not thread-safe. Movable.
class Attachments {
 public:
  // The lease of a key changes; 0: none. REQUIRES: it was `before`.
  void move(std::string_view key, std::int64_t before, std::int64_t after) {
    if (before == after) return;
    if (before != 0) detach(key, before);
    if (after == 0) return;
    INGOT_CHECK(leases_[after].insert(key).second, "a key has one lease");
    ++keys_;
  }

  // In the order of the keys. Valid as long as the keys have records.
  std::vector<std::string_view> of(std::int64_t lease) const {
    const auto found = leases_.find(lease);
    if (found == leases_.end()) return {};
    return {found->second.begin(), found->second.end()};
  }
  std::size_t count(std::int64_t lease) const {
    const auto found = leases_.find(lease);
    return found == leases_.end() ? 0 : found->second.size();
  }

  // Calls visit(lease) for each lease that has keys, in any order.
  template <typename Visit>
  void visit_leases(Visit&& visit) const {
    for (const auto& [lease, keys] : leases_) visit(lease);
  }

  std::int64_t counted() const { return keys_ * kAttachedCountedBytes; }  // what the quota counts, in bytes

 private:
  void detach(std::string_view key, std::int64_t lease) {
    const auto found = leases_.find(lease);
    INGOT_CHECK(found != leases_.end() && found->second.erase(key) == 1, "a key is detached from its lease");
    if (found->second.empty()) leases_.erase(found);
    --keys_;
  }

  absl::flat_hash_map<std::int64_t, absl::btree_set<std::string_view>> leases_;
  std::int64_t keys_ = 0;
};

}  // namespace ingot::kv
