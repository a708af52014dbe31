#include "services/rpc/client/channel_core.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "services/rpc/wire/framing.h"
#include "services/rpc/wire/timeout.h"

namespace ingot::rpc::client {
namespace {

using grpc::StatusCode;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(Clock::now().time_since_epoch()).count());
}

void serialise(const google::protobuf::MessageLite& message, std::string& out) {
  const std::size_t bytes = message.ByteSizeLong();
  const Prefix prefix = message_prefix(bytes);
  out.resize(prefix.size() + bytes);
  std::copy(prefix.begin(), prefix.end(), out.begin());
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data()) + prefix.size());
}

}  // namespace

Channel::Core::Core(boost::asio::io_context& io, Target target, ChannelOptions options)
    : io_(io), target_(std::move(target)), options_(options), attempt_timer_(io), deadline_timer_(io) {
  INGOT_CHECK(!target_.endpoints.empty());
}

void Channel::Core::close() {
  closed_ = true;
  attempt_timer_.cancel();
  deadline_timer_.cancel();
  if (current_) current_->close();
  if (pending_) pending_->close();
  for (const auto& connection : draining_) connection->close();
  current_ = pending_ = nullptr;
  draining_.clear();
}

// --- calls

CallId Channel::Core::start(const std::string& path, const google::protobuf::MessageLite& request,
                            const CallOptions& options, Receiver& receiver) {
  const bool bounded = options.timeout > nanoseconds::zero();
  OpenCall& call = calls_.add(bounded ? now_ns() + static_cast<std::uint64_t>(options.timeout.count()) : kNoDeadline);
  call.receiver = &receiver;
  call.waits = options.wait_for_connection;
  call.path = path;
  call.timeout = bounded ? format_timeout(static_cast<std::uint64_t>(options.timeout.count())) : "";
  serialise(request, call.request);
  arm_deadline(call.deadline_ns);
  place(call);
  return {call.index, call.generation};
}

void Channel::Core::place(OpenCall& call) {
  if (calls_.open() > kCallsMax) return refuse(call, {StatusCode::RESOURCE_EXHAUSTED, "too many calls are open"});
  if (current_ && current_->session().accepts()) return submit(call);
  if (call.waits || !failing_) {
    waiting_.push_back(&call);
  } else {
    refuse(call, {StatusCode::UNAVAILABLE, why_});
  }
}

// REQUIRES: the current connection accepts calls.
void Channel::Core::submit(OpenCall& call) {
  call.connection = current_.get();
  if (!current_->session().submit(call)) {
    call.connection = nullptr;
    refuse(call, {StatusCode::UNAVAILABLE, "the connection has carried all calls that it can"});
    return going_away(*current_);
  }
  flush_soon();
  const bool worn = current_->session().calls_begun() >= options_.connection_calls_max;
  if (worn && !pending_ && !pausing_) attempt();
}

// Its receiver hears of it in the next round: it may be the one that starts this call.
void Channel::Core::refuse(OpenCall& call, grpc::Status status) {
  call.connection = nullptr;
  call.status = std::move(status);
  refused_.push_back(&call);
  flush_soon();
}

void Channel::Core::cancel(CallId id) {
  OpenCall* call = calls_.find(id.index, id.generation);
  if (call == nullptr || call->receiver == nullptr) return;
  call->receiver = nullptr;
  if (call->connection != nullptr && call->connection->session().holds(*call)) {
    call->connection->session().detach(*call);
    calls_.free(*call);
    flush_soon();
  } else if (const auto at = std::find(waiting_.begin(), waiting_.end(), call); at != waiting_.end()) {
    waiting_.erase(at);
    calls_.free(*call);
  }  // otherwise it has ended, and deliver() frees it
}

void Channel::Core::deliver(std::vector<OpenCall*>& calls) {
  const bool outermost = !std::exchange(delivering_, true);
  for (OpenCall* call : calls) {
    calls_.forget_deadline(*call);
    Receiver* receiver = std::exchange(call->receiver, nullptr);
    if (receiver != nullptr) {
      receiver->answered(call->status, call->status.ok() ? call->answer.message() : std::string_view());
    }
    calls_.free(*call);
  }
  if (!outermost) return;
  delivering_ = false;
  flush_now();
}

// --- rounds

void Channel::Core::flush_soon() {
  if (delivering_ || std::exchange(flush_posted_, true)) return;
  boost::asio::post(io_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    if (!self->closed_) self->flush_now();
  });
}

void Channel::Core::flush_now() {
  if (!refused_.empty()) {
    std::vector<OpenCall*> calls = std::exchange(refused_, {});
    delivering_ = true;
    deliver(calls);
    delivering_ = false;
    if (!refused_.empty()) flush_soon();  // a receiver that tries again at once does not hold up the loop
  }
  if (const auto connection = current_) connection->flush();
  for (const auto& connection : std::vector(draining_)) connection->flush();
  drop_if_idle();
}

void Channel::Core::arm_deadline(std::uint64_t deadline_ns) {
  if (deadline_ns >= armed_ns_) return;
  armed_ns_ = deadline_ns;
  deadline_timer_.expires_at(Clock::time_point(nanoseconds(deadline_ns)));
  deadline_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->closed_) self->expire();
  });
}

void Channel::Core::expire() {
  armed_ns_ = kNoDeadline;
  std::vector<OpenCall*> expired;
  const std::uint64_t now = now_ns();
  while (OpenCall* call = calls_.expired(now)) {
    calls_.forget_deadline(*call);
    const bool sent = call->connection != nullptr;
    if (sent && !call->connection->session().holds(*call)) continue;  // it has ended
    if (sent) call->connection->session().detach(*call);
    if (!sent && std::erase(waiting_, call) == 0) continue;  // refused already
    call->status = {StatusCode::DEADLINE_EXCEEDED,
                    sent || why_.empty() ? "Deadline Exceeded" : absl::StrCat("Deadline Exceeded; ", why_)};
    expired.push_back(call);
  }
  arm_deadline(calls_.earliest_deadline_ns());
  if (!expired.empty()) deliver(expired);
}

}  // namespace ingot::rpc::client
