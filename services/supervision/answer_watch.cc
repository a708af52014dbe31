#include "services/supervision/answer_watch.h"

#include <signal.h>

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/cli/duration.h"
#include "services/log/log.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

namespace {

std::string duration_text(std::int64_t ms) { return format_duration(std::chrono::milliseconds(ms)); }

}  // namespace

AnswerWatch::AnswerWatch(boost::asio::io_context& io, Children& children, std::string label,
                         std::function<void()> killed)
    : children_(children), label_(std::move(label)), killed_call_(std::move(killed)), timer_(io) {}

void AnswerWatch::start(std::int64_t timeout_ms) {
  if (timeout_ms == 0) return;
  bound_.emplace(timeout_ms);
  wait();
}

void AnswerWatch::answered() {
  if (bound_) bound_->answered();
}

void AnswerWatch::cancel() {
  bound_.reset();
  timer_.cancel();
}

void AnswerWatch::wait() {
  timer_.expires_after(std::chrono::milliseconds(kFrontEndAskMs));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || !bound_) return;
    tick();
    wait();
  });
}

void AnswerWatch::tick() {
  Child* child = children_.running(label_);
  if (child == nullptr || child->incarnation == killed_) return;
  if (std::exchange(asked_, child->incarnation) != child->incarnation) bound_->begin();
  const std::int64_t bound_ms = bound_->bound_ms();
  if (bound_->tick()) return give_up(*child, bound_ms);
  // If the channel is full, unread questions wait there already.
  if (child->ready && !child->channel.pending()) child->channel.send(ping_message()).IgnoreError();
}

void AnswerWatch::give_up(Child& child, std::int64_t silent_ms) {
  killed_ = child.incarnation;
  killed_call_();
  log_warning(absl::StrCat(child.name(), " has answered nothing for ", duration_text(silent_ms),
                           "; it is killed, and the next one has ", duration_text(bound_->bound_ms()), " to answer"));
  child.signal(SIGKILL);
}

}  // namespace ingot::services_supervision
