#include "services/supervision/child.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/instance/instance.h"
#include "services/launch/pidfd.h"
#include "services/launch/process_signal.h"
#include "services/log/log.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

Child::Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, SupervisionChannel channel,
             std::uint32_t incarnation, Told told)
    : role(std::move(role)),
      pid(pid),
      incarnation(incarnation),
      channel(std::move(channel)),
      channel_ready(io, this->channel.fd()),
      pidfd(io, pidfd.release()),
      start_ticks_(process_start(pid)),
      told_(std::move(told)),
      retry_timer_(io) {}

Child::~Child() { close(); }

std::uint64_t Child::start_ticks() {
  if (start_ticks_ == 0) start_ticks_ = process_start(pid);
  return start_ticks_;
}

std::string Child::name() const { return absl::StrCat(role.label, " (pid ", pid, ")"); }

void Child::post(const SupervisionMessage& message) {
  note_lost(channel.post(message));
  if (channel.pending()) send_when_writable();
}

void Child::tell(const Instance& instance) {
  instance_ = &instance;
  if (!send_waiting()) send_when_writable();
}

// Posted messages come first: an orphan must know that it is adopted. True: nothing waits for room.
bool Child::send_waiting() {
  note_lost(channel.flush());
  if (channel.pending()) return false;
  if (instance_ == nullptr) return true;
  const absl::Status told = instance_->tell(channel, told_);
  if (absl::IsUnavailable(told)) return false;
  note_lost(told);
  return true;
}

// The socket may be writable all the time while the kernel refuses the next message: for want of memory, or since this
// user has too many descriptors in flight. Without a pause the supervisor would take a whole core until that ends.
void Child::send_when_writable() {
  if (std::exchange(waits_for_room_, true)) return;
  channel_ready.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             self->waits_for_room_ = false;
                             const std::uint64_t before = self->channel.sent();
                             if (error || self->send_waiting()) return;
                             if (self->channel.sent() == before) return self->send_later();
                             self->send_when_writable();
                           });
}

void Child::send_later() {
  waits_for_room_ = true;
  retry_timer_.expires_after(std::chrono::milliseconds(kSendRetryMs));
  retry_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    self->waits_for_room_ = false;
    if (!error) self->send_when_writable();
  });
}

// A closed channel is no loss: the process has ended, or is about to.
void Child::note_lost(const absl::Status& sent) {
  if (sent.ok() || absl::IsFailedPrecondition(sent) || std::exchange(lost_logged_, true)) return;
  log_warning(absl::StrCat("a message to ", name(), " was lost: ", std::string(sent.message()),
                           "; it may lack what others have until it is started again"));
}

void Child::signal(int number) { (void)!::pidfd_send_signal(pidfd.native_handle(), number, nullptr, 0); }

// The channel owns the socket and closes it, so Asio only releases it.
void Child::close() {
  retry_timer_.cancel();
  if (channel_ready.is_open()) channel_ready.release();
  channel.close();
  boost::system::error_code ignored;
  pidfd.close(ignored);
}

}  // namespace ingot::services_supervision
