// The results of a sorted range, merged from pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replication/store/api.h"

namespace ingot::etcd {

// Each page is sorted, and its keys are above those of the page before. Equal results stay in the order of their keys.
// Not thread-safe.
class SortedPages {
 public:
  // `limit`: only so many of the first results are wanted; 0 or less: all.
  SortedPages(kv::SortOrder order, kv::SortTarget target, std::int64_t limit);

  void add(std::vector<kv::KeyValue> page);

  // Memory of the results held, about.
  std::size_t bytes() const { return bytes_; }
  // There were more results than the limit.
  bool cut() const { return cut_; }

  // After the last page: the next results, with about so many bytes at most; and whether these were the last.
  std::vector<kv::KeyValue> take(std::size_t bytes_max);
  bool done() const { return heap_.empty() || taken_ >= limit_; }

 private:
  struct Run {
    std::vector<kv::KeyValue> results;
    std::size_t next = 0;
  };

  bool later(std::size_t a, std::size_t b) const;  // the next result of run `a` comes after that of run `b`
  void make_heap();
  kv::KeyValue pop();
  void keep_first();

  const bool descend_;
  const kv::SortTarget target_;
  const std::size_t limit_;
  std::vector<Run> runs_;          // in the order of their keys
  std::vector<std::size_t> heap_;  // of runs with results, the one with the first result on top; made by take()
  bool merging_ = false;
  std::size_t held_ = 0, bytes_ = 0, kept_bytes_ = 0, taken_ = 0;
  bool cut_ = false;
};

}  // namespace ingot::etcd
