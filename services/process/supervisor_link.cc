#include "services/process/supervisor_link.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/process/adoption.h"
#include "services/process/stopped_siblings.h"

namespace ingot {

namespace {

// The socket's name may still be taken for a moment: a process that the incarnation before has left behind may hold it.
constexpr int kListenTries = 100;
constexpr int kListenTryMs = 10;

absl::StatusOr<Descriptor> listen_patiently(const std::string& instance, const std::string& child) {
  for (int i = 1;; ++i) {
    auto listener = listen_for_supervisor(instance, child);
    if (!absl::IsAlreadyExists(listener.status()) || i == kListenTries) return listener;
    std::this_thread::sleep_for(std::chrono::milliseconds(kListenTryMs));
  }
}

bool other_end_closed(int fd) {
  pollfd descriptor{fd, 0, 0};
  return ::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLHUP) != 0;
}

// A timer that becomes readable once, after `ms` milliseconds. REQUIRES: ms > 0.
Descriptor make_timer(std::int64_t ms) {
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec when{};
  when.it_value.tv_sec = ms / 1000;
  when.it_value.tv_nsec = ms % 1000 * 1'000'000;
  if (timer.valid()) ::timerfd_settime(timer.get(), 0, &when, nullptr);
  return timer;
}

}  // namespace

SupervisorLink::SupervisorLink(HandoverState known, SupervisionChannel channel, Descriptor listener, std::string child)
    : known_(std::move(known)),
      child_(std::move(child)),
      channel_(std::move(channel)),
      listener_(std::move(listener)) {}

SupervisorLink::~SupervisorLink() = default;

// A new supervisor that does not find a process takes it for dead and starts its next incarnation. So a process that
// did not listen yet when its supervisor died must not start. Therefore it first listens, then checks whether its
// supervisor still lives.
std::unique_ptr<SupervisorLink> SupervisorLink::open(const LaunchSpec& spec, std::string child) {
  SupervisionChannel channel{Descriptor(spec.control_fd)};
  auto known = HandoverState::copy(spec);
  auto listener = listen_patiently(spec.config.name, child);
  absl::Status status = known.status();
  status.Update(listener.status());
  if (!status.ok()) {
    channel.send(failed_message(status)).IgnoreError();
    return nullptr;
  }
  if (other_end_closed(channel.fd())) return nullptr;
  return std::unique_ptr<SupervisorLink>(
      new SupervisorLink(*std::move(known), std::move(channel), *std::move(listener), std::move(child)));
}

void SupervisorLink::send_ready() { send(ready_message()).IgnoreError(); }

void SupervisorLink::send_failed(const absl::Status& why) { send(failed_message(why)).IgnoreError(); }

absl::Status SupervisorLink::send(const SupervisionMessage& message, std::span<const int> fds) {
  if (orphan_) return absl::FailedPreconditionError("there is no supervisor");
  return channel_.send(message, fds);
}

void SupervisorLink::watch(EventLoop& loop, Receive receive) {
  loop_ = &loop;
  receive_ = std::move(receive);
  loop_->watch(listener_.get(), [this] { accept(); });
  watch_channel();
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
    if (received.outcome == Outcome::kMessage) dispatch(std::move(received));
    else note_refused();
  }
}

void SupervisorLink::dispatch(SupervisionChannel::Received received) {
  const SupervisionMessage& message = received.message;
  switch (message.kind_case()) {
    case SupervisionMessage::kDrain:
    case SupervisionMessage::kLeave:
      return receive_(message, {});
    case SupervisionMessage::kIncarnation:
      if (known_.begin_incarnation(message.incarnation(), received.fds)) receive_(message, std::move(received.fds));
      return;
    case SupervisionMessage::kSnapshot:
      return known_.keep_snapshot(message.snapshot(), std::move(received.fds[0]));
    case SupervisionMessage::kDescribe:
      if (!known_.send(channel_).ok()) close_channel();
      return;
    case SupervisionMessage::kAdopted:
      return adopted();
    default:  // the other kinds are for supervisors and standby processes
      return;
  }
}

// Logs only the first refused message of each connection: the other end may send any number of them.
void SupervisorLink::note_refused() {
  if (channel_.refused() > 1) return;
  std::fprintf(stderr, "ingotd: %s of %s: a message of the supervisor was refused: it is malformed\n", child_.c_str(),
               known_.spec().config.name.c_str());
}

void SupervisorLink::adopted() {
  orphan_ = false;
  if (grace_timer_.valid()) loop_->unwatch(grace_timer_.get());
  grace_timer_.reset();
}

// If a supervisor disconnects before it has sent Adopted, the process is still the orphan that it was, and its grace
// goes on.
void SupervisorLink::close_channel() {
  loop_->unwatch(channel_.fd());
  channel_.close();
  if (!orphan_) begin_grace();
}

void SupervisorLink::begin_grace() {
  orphan_ = true;
  orphan_since_ns_ = monotonic_ns();
  const std::int64_t grace_ms = known_.spec().config.orphan_grace_ms;
  if (grace_ms == 0) return grace_over();
  grace_timer_ = make_timer(grace_ms);
  if (!grace_timer_.valid()) return grace_over();  // out of descriptors: without the timer it would never leave
  loop_->watch(grace_timer_.get(), [this] { grace_ended(); });
}

// When a process has been stopped for longer than its grace, both its timer and a new supervisor may be waiting when it
// runs again, and the loop may see them in any order. So the process looks for an adoption before it leaves.
void SupervisorLink::grace_ended() {
  read_channel();
  while (accept()) continue;
  if (orphan_ && orphan_ms() >= known_.spec().config.orphan_grace_ms) grace_over();
}

void SupervisorLink::grace_over() {
  if (grace_timer_.valid()) loop_->unwatch(grace_timer_.get());
  continue_stopped_siblings(known_.spec());
  if (known_.spec().config.orphan_grace_ms > 0) {
    std::fprintf(stderr, "ingotd: %s of %s leaves: no supervisor has come for %lld ms\n", child_.c_str(),
                 known_.spec().config.name.c_str(), static_cast<long long>(orphan_ms()));
  }
  receive_(leave_message(), {});
}

bool SupervisorLink::accept() {
  SupervisionChannel supervisor{accept_supervisor(listener_.get())};
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
  greeting.mutable_orphaned()->set_generation(known_.generation());
  greeting.mutable_orphaned()->set_orphan_ms(orphan_ms());
  channel_.send(greeting).IgnoreError();
  read_channel();  // a supervisor that connected while this process was stopped has sent Adopted already
  return true;
}

std::int64_t SupervisorLink::orphan_ms() const {
  return static_cast<std::int64_t>((monotonic_ns() - orphan_since_ns_) / 1'000'000);
}

}  // namespace ingot
