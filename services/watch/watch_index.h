// Finds the groups of watches whose range holds a key.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "services/watch/watch.h"

namespace ingot::watch {

// Single keys are in a hash table. Ranges are in an array by their begin, with the greatest end of each half of each
// part above it, so a key costs one descent for each range that it finds; new ranges wait in a short list until they
// are merged in. Not thread-safe.
class WatchIndex {
 public:
  // The group of this range, which has the caller's watch from now on.
  Group& join(const std::string& key, const std::string& range_end);
  // A watch less; the last one's group ends.
  void leave(Group& group);

  void each_group_of(const std::string& key, absl::FunctionRef<void(Group&)> found);

 private:
  using Range = std::pair<std::string, std::string>;

  void each_sorted(std::size_t node, std::size_t begin, std::size_t end, std::size_t upper, std::string_view key,
                   absl::FunctionRef<void(Group&)> found);
  void merge_recent();
  std::size_t fill(std::size_t node, std::size_t begin, std::size_t end);

  absl::flat_hash_map<std::string, std::unique_ptr<Group>> keys_;
  absl::flat_hash_map<Range, std::unique_ptr<Group>> ranges_;
  std::vector<Group*> sorted_;         // by key
  std::vector<std::size_t> greatest_;  // by node: the range with the greatest end, as its place in sorted_
  std::size_t empty_sorted_ = 0;       // without watches
  std::vector<Group*> recent_;         // not in sorted_ yet
};

}  // namespace ingot::watch
