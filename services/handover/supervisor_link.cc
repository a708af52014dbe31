#include "services/handover/supervisor_link.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/cli/duration.h"
#include "services/handover/adoption.h"
#include "services/handover/limits.h"
#include "services/handover/stopped_siblings.h"
#include "services/log/log.h"
#include "services/sockets/passed_descriptors.h"
#include "services/sockets/socket_path.h"

namespace ingot::inline services_handover {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

std::string duration_text(std::int64_t ms) { return format_duration(std::chrono::milliseconds(ms)); }

bool other_end_closed(int fd) {
  pollfd descriptor{fd, 0, 0};
  return ::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLHUP) != 0;
}

Descriptor make_timer() { return Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)); }

// The timer becomes readable after `ms` milliseconds, and until then it is not; 0: never.
void set_timer(const Descriptor& timer, std::int64_t ms) {
  itimerspec when{};
  when.it_value.tv_sec = ms / 1000;
  when.it_value.tv_nsec = ms % 1000 * 1'000'000;
  ::timerfd_settime(timer.get(), 0, &when, nullptr);
}

}  // namespace

SupervisorLink::SupervisorLink(HandoverState known, SupervisionChannel channel, Descriptor listener, Timers timers,
                               std::string child)
    : known_(std::move(known)),
      child_(std::move(child)),
      channel_(std::move(channel)),
      listener_(std::move(listener)),
      timers_(std::move(timers)) {}

SupervisorLink::~SupervisorLink() { close_unread(std::move(listener_)); }

// A new supervisor that does not find a process takes it for dead and starts its next incarnation. So a process that
// did not listen yet when its supervisor died must not start. Therefore it first listens, then checks whether its
// supervisor still lives.
std::unique_ptr<SupervisorLink> SupervisorLink::open(const LaunchSpec& spec, std::string child) {
  SupervisionChannel channel{Descriptor(spec.control_fd)};
  auto known = HandoverState::copy(spec);
  auto listener = listen_for_supervisor(spec.config.name, child);
  absl::Status status = known.status();
  status.Update(listener.status());
  Timers timers{make_timer(), make_timer()};
  if (!timers.grace.valid() || !timers.accept.valid()) {
    status.Update(absl::ResourceExhaustedError(absl::StrCat("cannot make a timer: ", std::strerror(errno))));
  }
  if (!status.ok()) {
    channel.send(failed_message(status)).IgnoreError();
    return nullptr;
  }
  if (other_end_closed(channel.fd())) return nullptr;
  return std::unique_ptr<SupervisorLink>(new SupervisorLink(
      *std::move(known), std::move(channel), *std::move(listener), std::move(timers), std::move(child)));
}

void SupervisorLink::send_ready() { send(ready_message()).IgnoreError(); }

void SupervisorLink::send_failed(const absl::Status& why) { send(failed_message(why)).IgnoreError(); }

absl::Status SupervisorLink::send(const SupervisionMessage& message, std::span<const int> fds) {
  if (orphan()) return absl::FailedPreconditionError("there is no supervisor");
  return channel_.send(message, fds);
}

void SupervisorLink::watch(EventLoop& loop, Receive receive, Lose lose) {
  loop_ = &loop;
  receive_ = std::move(receive);
  lose_ = std::move(lose);
  loop_->watch(timers_.grace.get(), [this] { grace_ended(); });
  loop_->watch(timers_.accept.get(), [this] {
    set_timer(timers_.accept, 0);
    watch_listener();
    accept();
  });
  watch_listener();
  watch_channel();
}

void SupervisorLink::watch_listener() {
  loop_->watch(listener_.get(), [this] { accept(); });
}

void SupervisorLink::watch_channel() {
  loop_->watch(channel_.fd(), [this] { read_channel(); });
}

void SupervisorLink::read_channel() {
  using Outcome = SupervisionChannel::Received::Outcome;
  while (channel_.open()) {
    auto received = channel_.receive();
    if (received.outcome == Outcome::kNothing) return;
    if (received.outcome == Outcome::kEnd) return close_channel();
    if (received.outcome == Outcome::kMessage) {
      dispatch(std::move(received));
    } else if (received.outcome == Outcome::kTruncated) {
      note_lost(absl::ResourceExhaustedError("its descriptors have no room"));
    } else {
      note_refused();
    }
  }
}

void SupervisorLink::dispatch(SupervisionChannel::Received received) {
  const SupervisionMessage& message = received.message;
  switch (message.kind_case()) {
    case SupervisionMessage::kDrain:
    case SupervisionMessage::kLeave:
    case SupervisionMessage::kPing:
      return receive_(message, {});
    case SupervisionMessage::kIncarnation:
      return begin_incarnation(message, std::move(received.fds));
    case SupervisionMessage::kKept:
      if (known_.keep_incarnations(message.kept())) receive_(message, {});
      return;
    case SupervisionMessage::kSnapshot:
      known_.keep_snapshot(message.snapshot(), std::move(received.fds[0]));
      return receive_(message, {});
    case SupervisionMessage::kSocket:
      return take_socket(message, std::move(received.fds));
    case SupervisionMessage::kDescribe:
      if (auto status = known_.send(channel_); !status.ok()) {
        channel_.send(failed_message(status)).IgnoreError();
        close_channel();
      }
      return;
    case SupervisionMessage::kAdopted:
      return adopted();
    default:  // the other kinds are for supervisors and standby processes
      return;
  }
}

void SupervisorLink::begin_incarnation(const SupervisionMessage& message, std::vector<Descriptor> fds) {
  const absl::Status entered = known_.begin_incarnation(message.incarnation(), fds);
  if (entered.ok()) return receive_(message, std::move(fds));
  if (absl::IsResourceExhausted(entered)) note_lost(entered);
}

void SupervisorLink::take_socket(const SupervisionMessage& message, std::vector<Descriptor> fds) {
  const absl::Status taken = known_.keep_socket(message.socket(), fds[0]);
  if (taken.ok()) return receive_(message, std::move(fds));
  if (absl::IsResourceExhausted(taken)) note_lost(taken);
}

void SupervisorLink::note_lost(const absl::Status& why) {
  if (lose_) return lose_(why);
  if (channel_.refused() > 1) return;  // as in note_refused
  log_warning(absl::StrCat("a message of the supervisor was lost: ", std::string(why.message()),
                           "; raise the limit of open files"));
}

// Logs only the first refused message of each connection: the other end may send any number of them.
void SupervisorLink::note_refused() {
  if (channel_.refused() > 1) return;
  log_warning("a message of the supervisor was refused: it is malformed");
}

void SupervisorLink::adopted() {
  if (orphan()) log_info(absl::StrCat("has a supervisor again, after ", duration_text(orphan_ms())));
  loss_.since_ns.set_release(0);
  set_timer(timers_.grace, 0);
}

// If a supervisor disconnects before it has sent Adopted, the process is still the orphan that it was, and its grace
// goes on.
void SupervisorLink::close_channel() {
  loop_->unwatch(channel_.fd());
  channel_.close();
  if (!orphan()) begin_grace();
}

void SupervisorLink::begin_grace() {
  const std::int64_t grace_ms = known_.spec().config.orphan_grace_ms;
  const std::uint64_t now_ns = monotonic_ns();
  loss_.leaves_ns.set(now_ns + static_cast<std::uint64_t>(grace_ms) * kNsPerMs);
  loss_.since_ns.set_release(now_ns);
  if (grace_ms == 0) return grace_over();
  log_warning(absl::StrCat("the supervisor has ended; this process goes on, and leaves in ", duration_text(grace_ms),
                           " unless another ingotd of the same name and flags takes over"));
  set_timer(timers_.grace, grace_ms);
}

// When a process has been stopped for longer than its grace, both its timer and a new supervisor may be waiting when it
// runs again, and the loop may see them in any order. So the process looks for an adoption before it leaves.
void SupervisorLink::grace_ended() {
  set_timer(timers_.grace, 0);
  read_channel();
  while (accept()) continue;
  if (!orphan()) return;
  const std::int64_t left_ms = known_.spec().config.orphan_grace_ms - orphan_ms();
  if (left_ms > 0) set_timer(timers_.grace, left_ms);  // its grace has begun anew
  else grace_over();
}

void SupervisorLink::grace_over() {
  continue_stopped_siblings(known_.spec());
  if (known_.spec().config.orphan_grace_ms > 0) {
    log_warning(absl::StrCat("leaves: no supervisor has come for ", duration_text(orphan_ms())));
  }
  // Whatever still runs leaves at the same time, and a supervisor that takes over just now binds the socket anew.
  const LaunchSpec& spec = known_.spec();
  if (spec.socket.fd >= 0) remove_socket_file(spec.config.socket, spec.socket.file);
  if (spec.view_socket.fd >= 0) remove_socket_file(view_socket_path(spec.config.socket), spec.view_socket.file);
  receive_(leave_message(), {});
}

// Without a descriptor for the connection that waits, the listener stays readable: the loop would never sleep.
bool SupervisorLink::accept() {
  auto accepted = accept_supervisor(listener_.get());
  if (!accepted.ok()) {
    loop_->unwatch(listener_.get());
    set_timer(timers_.accept, kAcceptRetryMs);
    return false;
  }
  SupervisionChannel supervisor{*std::move(accepted)};
  if (!supervisor.open()) return false;
  read_channel();  // the old channel may have ended meanwhile; the messages before its end still count
  if (channel_.open()) {
    supervisor.send(failed_message(absl::AlreadyExistsError(absl::StrCat(child_, " has a supervisor")))).IgnoreError();
    return true;
  }
  channel_ = std::move(supervisor);
  watch_channel();
  SupervisionMessage greeting;
  greeting.mutable_orphaned()->set_version(kIngotVersion);
  known_.describe(*greeting.mutable_orphaned());
  greeting.mutable_orphaned()->set_orphan_ms(orphan_ms());
  channel_.send(greeting).IgnoreError();
  read_channel();  // a supervisor that connected while this process was stopped has sent Adopted already
  return true;
}

std::int64_t SupervisorLink::orphan_ms() const {
  return static_cast<std::int64_t>((monotonic_ns() - loss_.since_ns.get()) / kNsPerMs);
}

}  // namespace ingot::services_handover
