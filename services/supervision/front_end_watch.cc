#include "services/supervision/front_end_watch.h"

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

FrontEndWatch::FrontEndWatch(boost::asio::io_context& io, Instance& instance, Children& children)
    : instance_(instance), children_(children), timer_(io) {}

void FrontEndWatch::start() {
  const std::int64_t timeout_ms = instance_.config().front_end_timeout_ms;
  if (timeout_ms == 0) return;
  bound_.emplace(timeout_ms);
  wait();
}

void FrontEndWatch::answered() {
  if (bound_) bound_->answered();
}

void FrontEndWatch::cancel() {
  bound_.reset();
  timer_.cancel();
}

void FrontEndWatch::wait() {
  timer_.expires_after(std::chrono::milliseconds(kFrontEndAskMs));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || !bound_) return;
    tick();
    wait();
  });
}

void FrontEndWatch::tick() {
  Child* front_end = children_.running(kFrontEndLabel);
  if (front_end == nullptr || front_end->incarnation == killed_) return;
  if (std::exchange(asked_, front_end->incarnation) != front_end->incarnation) bound_->begin();
  const std::int64_t bound_ms = bound_->bound_ms();
  if (bound_->tick()) return give_up(*front_end, bound_ms);
  // If the channel is full, unread questions wait there already.
  if (front_end->ready && !front_end->channel.pending()) front_end->channel.send(ping_message()).IgnoreError();
}

void FrontEndWatch::give_up(Child& front_end, std::int64_t silent_ms) {
  killed_ = front_end.incarnation;
  instance_.page().front_end_hangs.add(1);
  log_warning(absl::StrCat(front_end.name(), " has answered nothing for ", duration_text(silent_ms),
                           "; it is killed, and the next one has ", duration_text(bound_->bound_ms()), " to answer"));
  front_end.signal(SIGKILL);
}

}  // namespace ingot::services_supervision
