// The open calls of a channel: their memory, their names and their deadlines. Internal to services/rpc/client.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "services/rpc/client/limits.h"
#include "services/rpc/client/open_call.h"

namespace ingot::rpc::client {

// Not thread-safe.
class CallList {
 public:
  std::size_t open() const { return calls_.size() - free_.size(); }

  OpenCall& add(std::uint64_t deadline_ns) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(calls_.size()));
      calls_.emplace_back().index = free_.back();
    }
    OpenCall& call = calls_[free_.back()];
    free_.pop_back();
    ++call.generation;
    call.deadline_ns = deadline_ns;
    if (deadline_ns != kNoDeadline) deadlines_.emplace(deadline_ns, call.index);
    return call;
  }

  // The call is over, and its deadline with it. Its memory stays until free().
  void forget_deadline(OpenCall& call) {
    if (call.deadline_ns != kNoDeadline) deadlines_.erase({call.deadline_ns, call.index});
    call.deadline_ns = kNoDeadline;
  }

  void free(OpenCall& call) {
    forget_deadline(call);
    call.receiver = nullptr;
    call.connection = nullptr;
    if (call.request.capacity() > kKeptBytes) call.request = {};
    ++call.generation;
    free_.push_back(call.index);
  }

  // Null if that call is not open.
  OpenCall* find(std::uint32_t index, std::uint32_t generation) {
    if (index >= calls_.size() || generation % 2 == 0) return nullptr;
    return calls_[index].generation == generation ? &calls_[index] : nullptr;
  }

  // kNoDeadline: none.
  std::uint64_t earliest_deadline_ns() const { return deadlines_.empty() ? kNoDeadline : deadlines_.begin()->first; }

  // The call with the earliest deadline, if that is not later than `now_ns`.
  OpenCall* expired(std::uint64_t now_ns) {
    return earliest_deadline_ns() <= now_ns && !deadlines_.empty() ? &calls_[deadlines_.begin()->second] : nullptr;
  }

 private:
  std::deque<OpenCall> calls_;
  std::vector<std::uint32_t> free_;  // indexes
  absl::btree_set<std::pair<std::uint64_t, std::uint32_t>> deadlines_;
};

}  // namespace ingot::rpc::client
