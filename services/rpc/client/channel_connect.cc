// The half of a channel that connects: attempts, their pauses, and connections that end.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/rpc/client/channel_core.h"

namespace ingot::rpc::client {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool older_than(std::uint64_t since_ns, int ms) {
  const Clock::time_point since{std::chrono::nanoseconds(since_ns)};
  return Clock::now() - since >= milliseconds(ms);
}

}  // namespace

void Channel::Core::attempt() {
  pausing_ = false;
  pending_ = std::make_shared<Connection>(io_, target_.authority, options_.answer_bytes_max, *this);
  pending_->start(target_.endpoints[next_endpoint_]);
  attempt_timer_.expires_after(milliseconds(kConnectTimeoutMs));
  attempt_timer_.async_wait([self = shared_from_this(), attempt = pending_.get()](const auto& error) {
    if (error || self->closed_ || self->pending_.get() != attempt) return;
    std::exchange(self->pending_, nullptr)->close();
    self->attempt_failed(absl::StrCat("no HTTP/2 server answered within ", kConnectTimeoutMs, " ms"));
  });
}

void Channel::Core::attempt_failed(const std::string& why) {
  why_ = absl::StrCat("cannot connect to ", target_.text, ": ", why);
  next_endpoint_ = (next_endpoint_ + 1) % target_.endpoints.size();
  if (next_endpoint_ != 0) return attempt();
  pausing_ = true;
  attempt_timer_.expires_after(milliseconds(pause_ms_));
  attempt_timer_.async_wait([self = shared_from_this()](const auto& error) {
    if (!error && !self->closed_ && self->pausing_) self->attempt();
  });
  pause_ms_ = std::min(2 * pause_ms_, kReconnectPauseMsMax);
  if (current_) return;
  failing_ = true;
  refuse_waiting();
}

// A connection has ended. A server that ends each one as soon as it is up is not asked again without a pause.
void Channel::Core::attempt_after_end() {
  if (pending_ || pausing_) return;
  next_endpoint_ = 0;
  if (older_than(ready_ns_, kReconnectPauseMs)) return attempt();
  pausing_ = true;
  attempt_timer_.expires_after(milliseconds(kReconnectPauseMs));
  attempt_timer_.async_wait([self = shared_from_this()](const auto& error) {
    if (!error && !self->closed_ && self->pausing_) self->attempt();
  });
}

void Channel::Core::ready(Connection& connection) {
  if (&connection != pending_.get()) return;
  attempt_timer_.cancel();
  if (current_) retire(std::move(current_));
  current_ = std::move(pending_);
  pending_ = nullptr;
  ready_ns_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  pause_ms_ = kReconnectPauseMs;
  failing_ = false;
  why_.clear();
  submit_waiting();
}

void Channel::Core::going_away(Connection& connection) {
  if (&connection != current_.get()) return;
  retire(std::move(current_));
  current_ = nullptr;
  attempt_after_end();
}

void Channel::Core::lost(Connection& connection, std::vector<OpenCall*> calls, const std::string& why) {
  std::erase_if(draining_, [&](const auto& each) { return each.get() == &connection; });
  const bool was_pending = pending_.get() == &connection;
  if (was_pending) pending_ = nullptr;
  if (current_.get() == &connection) {
    current_ = nullptr;
    attempt_after_end();
  }
  if (was_pending) attempt_failed(why);
  for (OpenCall* call : calls) {
    call->connection = nullptr;
    call->status = {grpc::StatusCode::UNAVAILABLE,
                    absl::StrCat("the connection to ", target_.text, " was lost: ", why)};
  }
  if (!calls.empty()) deliver(calls);
}

void Channel::Core::ended(std::vector<OpenCall*>& calls) { deliver(calls); }

// The connection takes no more calls, and is closed when those that it has are over.
void Channel::Core::retire(std::shared_ptr<Connection> connection) {
  draining_.push_back(std::move(connection));
  flush_soon();
  if (draining_.size() <= kDrainingMax) return;
  const auto oldest = draining_.front();
  oldest->abandon("too many older connections have calls that do not end");
}

void Channel::Core::drop_if_idle() {
  std::erase_if(draining_, [](const auto& connection) {
    if (connection->session().open_calls() > 0) return false;
    connection->close();
    return true;
  });
}

void Channel::Core::submit_waiting() {
  for (OpenCall* call : std::exchange(waiting_, {})) {
    if (current_ && current_->session().accepts()) {  // it may have said goodbye in the same breath
      submit(*call);
    } else {
      waiting_.push_back(call);
    }
  }
}

void Channel::Core::refuse_waiting() {
  std::vector<OpenCall*> waiting = std::exchange(waiting_, {});
  for (OpenCall* call : waiting) {
    if (call->waits) {
      waiting_.push_back(call);
    } else {
      refuse(*call, {grpc::StatusCode::UNAVAILABLE, why_});
    }
  }
}

}  // namespace ingot::rpc::client
