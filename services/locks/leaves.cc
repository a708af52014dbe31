#include "services/locks/leaves.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "services/locks/ask.h"
#include "services/locks/limits.h"

namespace ingot::locks {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

}  // namespace

void Leaves::add(kv::TxnRequest leave) {
  if (waiting_.size() >= kLeavesMax) {
    return ask<kv::TxnResult>(client_, RequestKind::kCommand, std::move(leave),
                              [](const grpc::Status&, kv::Revision, kv::TxnResult&&) {});
  }
  waiting_[next_].request = std::move(leave);
  ask_for(next_++);
}

// The answer may come before ask() returns.
void Leaves::ask_for(std::uint64_t number) {
  Leave& leave = waiting_.at(number);
  leave.asked = true;
  ++leave.tries;
  ask<kv::TxnResult>(client_, RequestKind::kCommand, leave.request,
                     [this, number](const grpc::Status& status, kv::Revision, kv::TxnResult&&) {
                       const auto found = waiting_.find(number);
                       if (found == waiting_.end()) return;
                       if (status.ok() || found->second.tries >= kLeaveTriesMax) return void(waiting_.erase(found));
                       found->second.asked = false;
                       found->second.again_ns = 0;
                     });
}

int Leaves::poll(std::uint64_t now_ns) {
  if (now_ns < deadline_ns()) return 0;
  std::vector<std::uint64_t> due;
  for (auto& [number, leave] : waiting_) {
    if (leave.asked) continue;
    if (leave.again_ns == 0) leave.again_ns = now_ns + kLeaveAgainMs * kNsPerMs;
    if (now_ns >= leave.again_ns) due.push_back(number);
  }
  for (const std::uint64_t number : due) ask_for(number);
  return static_cast<int>(due.size());
}

std::uint64_t Leaves::deadline_ns() const {
  std::uint64_t first_ns = kNever;
  for (const auto& [number, leave] : waiting_) {
    if (!leave.asked) first_ns = std::min(first_ns, leave.again_ns);
  }
  return first_ns;
}

}  // namespace ingot::locks
