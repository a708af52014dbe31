#include "replication/replica/state_clock.h"

#include <algorithm>

namespace ingot::inline replication_replica {
namespace {

constexpr std::uint64_t ns_of(std::uint64_t ms) { return ms * 1'000'000; }

}  // namespace

// True: it stands, and forgets what it knew.
bool StateClock::stands(const StateMachine::Clock& state, Ballot leads) {
  if (state.runs && leads != Ballot(0)) return false;
  *this = StateClock();
  return true;
}

void StateClock::note(const StateMachine::Clock& state, Ballot leads, std::uint64_t now_ns) {
  if (stands(state, leads)) return;
  if (leads != leads_ || state.last.number != seen_) due_ns_ = now_ns;
}

bool StateClock::look(const StateMachine::Clock& state, Ballot leads, std::uint64_t now_ns) {
  if (stands(state, leads)) return false;
  if (leads != leads_) {
    *this = StateClock();
    leads_ = leads;
    from_ns_ = now_ns;
  }
  if (state.last.number != seen_) {  // also if it was proposed before the clock stood, or by another leader
    seen_ = state.last.number;
    under_way_ = under_way_ && seen_ < tick_.number;
    from_ns_ = std::max(from_ns_, now_ns - std::min(now_ns, ns_of(kTickDecisionMaxMs)));
  }
  const bool first = state.last.leadership != leads.value();
  if (under_way_) {
    due_ns_ = proposed_ns_ + ns_of(kTickMaxMs);
  } else {
    due_ns_ = first || state.behind ? now_ns : from_ns_ + ns_of(kTickPeriodMs);
  }
  if (now_ns < due_ns_) return false;
  take(first, now_ns);
  return true;
}

// What is less than a millisecond is left for the next tick; what is more than a tick may carry is lost.
void StateClock::take(bool first, std::uint64_t now_ns) {
  const std::uint64_t passed_ms = (now_ns - from_ns_) / ns_of(1);
  const std::uint64_t carried_ms = first ? 0 : std::min<std::uint64_t>(passed_ms, kTickMaxMs);
  tick_ = {leads_.value(), seen_ + 1, static_cast<std::uint32_t>(carried_ms)};
  from_ns_ += ns_of(passed_ms);
  proposed_ns_ = now_ns;
  under_way_ = true;
  due_ns_ = now_ns + ns_of(kTickMaxMs);
}

}  // namespace ingot::replication_replica
