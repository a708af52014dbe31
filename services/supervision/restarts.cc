#include "services/supervision/restarts.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/log/log.h"

namespace ingot::inline services_supervision {

namespace {

std::int64_t lived_ms(const Child& child) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Child::Clock::now() - child.started).count();
}

}  // namespace

Restarts::Restarts(boost::asio::io_context& io, Instance& instance, Children& children)
    : io_(io), instance_(instance), children_(children) {}

Restarts::Endpoint& Restarts::endpoint(const ChildRole& role) {
  return endpoints_.try_emplace(role.endpoint, io_, role).first->second;
}

void Restarts::died(const Child& child, const std::string& how) {
  Endpoint& its = endpoint(child.role);
  if (child.ready) return start_later(its, absl::StrCat(child.name(), " ", how), "", lived_ms(child));
  const std::string why = std::exchange(its.failure, "");
  const std::string cause =
      why.empty() ? absl::StrCat(how, " before it was ready") : absl::StrCat("cannot start: ", why);
  start_later(its, absl::StrCat(child.name(), " ", cause), cause, 0);
}

void Restarts::failed(const Child& child, const absl::Status& why) {
  endpoint(child.role).failure = std::string(why.message());
}

void Restarts::ready(const Child& child) {
  Endpoint& its = endpoint(child.role);
  its.logged_cause.clear();
  if (its.again) log_info(absl::StrCat(child.name(), " is up as incarnation ", child.incarnation));
}

void Restarts::begin(const ChildRole& role) {
  if (!cancelled_) start(endpoint(role));
}

void Restarts::missing(const ChildRole& role, const std::string& what) {
  start_later(endpoint(role), absl::StrCat(role.label, " ", what), "", 0);
}

// `cause`: why the process could not start, logged once; empty: it had started, and each call is logged.
void Restarts::start_later(Endpoint& endpoint, const std::string& what, const std::string& cause,
                           std::int64_t lived_ms) {
  if (cancelled_) return;
  const int delay_ms = endpoint.delay.next_ms(lived_ms);
  const std::string when = delay_ms == 0 ? "" : absl::StrCat(" in ", delay_ms, " ms");
  const std::string next =
      absl::StrCat("; starting it again as incarnation ", instance_.incarnation(endpoint.role.endpoint) + 1, when);
  if (cause.empty()) {
    log_warning(absl::StrCat(what, next));
  } else if (cause != endpoint.logged_cause) {
    log_warning(absl::StrCat(what, next, ", and from then on at most every ", kRestartDelayMaxMs / 1000,
                             " s; the same cause is not reported again"));
  }
  endpoint.logged_cause = cause;
  const int failover_ms = this->failover_ms(endpoint, delay_ms);
  endpoint.waits_for_others = delay_ms < failover_ms;
  start_after(endpoint, std::max(delay_ms, failover_ms));
}

// By how much a start is delayed in favour of a failover, in ms: 0 for a process without replicas, and if the running
// voters are no majority. In the latter case delayed starts of other voters begin now as well, but only as many as a
// majority needs: more would take CPU time from the starts that the group waits for.
int Restarts::failover_ms(const Endpoint& endpoint, int delay_ms) {
  const int voters = instance_.config().voters;
  const auto votes = [&](const ChildRole& role) { return role.endpoint >= 0 && role.endpoint < voters; };
  int running = 0;
  children_.for_each_running([&](const Child& child) { running += votes(child.role) ? 1 : 0; });
  for (const auto& [id, other] : endpoints_) running += votes(other.role) && other.starts_now ? 1 : 0;
  if (2 * running > voters) return endpoint.role.replicas.empty() ? 0 : kFailoverFirstMs;
  if (votes(endpoint.role) && delay_ms == 0) ++running;
  for (auto& [id, other] : endpoints_) {
    if (2 * running > voters) break;
    if (!votes(other.role) || !std::exchange(other.waits_for_others, false)) continue;
    start_after(other, 0);
    ++running;
  }
  return 0;
}

void Restarts::start_after(Endpoint& endpoint, int delay_ms) {
  endpoint.waits = true;
  endpoint.starts_now = delay_ms == 0;
  endpoint.timer.expires_after(std::chrono::milliseconds(delay_ms));
  endpoint.timer.async_wait([this, &endpoint](const boost::system::error_code& error) {
    // A wait that expired before the timer was set again completes all the same: `waits` lets only one of them start.
    if (!error && !cancelled_ && std::exchange(endpoint.waits, false)) start(endpoint);
  });
}

// All running processes are told of the new incarnation before it can send them a message.
void Restarts::start(Endpoint& endpoint) {
  endpoint.again = true;
  endpoint.waits_for_others = endpoint.starts_now = false;
  absl::Status status = instance_.begin_incarnation(endpoint.role.endpoint);
  if (status.ok()) {
    children_.tell_all();
    status = children_.start(endpoint.role);
    instance_.release_segments();  // after the start, which the group may be waiting for
    children_.tell_all();
  }
  if (status.ok()) return;
  const std::string cause = absl::StrCat("cannot be started: ", std::string(status.message()));
  start_later(endpoint, absl::StrCat(endpoint.role.label, " ", cause), cause, 0);
}

bool Restarts::any_waits_for_others() const {
  return std::any_of(endpoints_.begin(), endpoints_.end(),
                     [](const auto& each) { return each.second.waits_for_others; });
}

void Restarts::cancel() {
  cancelled_ = true;
  for (auto& [id, endpoint] : endpoints_) endpoint.timer.cancel();
}

}  // namespace ingot::services_supervision
