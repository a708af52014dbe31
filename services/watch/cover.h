// At most kCoverRangesMax ranges that hold everything that some watches want, and perhaps more.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replication/store/api.h"

namespace ingot::watch {

// Not thread-safe.
class Cover {
 public:
  bool holds(std::string_view key, std::string_view range_end) const;
  // As in a request: an empty `range_end` stands for one key, "\0" for no end.
  void add(std::string_view key, std::string_view range_end);
  void clear() { ranges_.clear(); }
  bool empty() const { return ranges_.empty(); }

  // Ascending, none overlaps another.
  const std::vector<kv::EventRange>& ranges() const { return ranges_; }

 private:
  void join_nearest();

  std::vector<kv::EventRange> ranges_;  // each with an end
};

}  // namespace ingot::watch
