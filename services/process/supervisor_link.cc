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

// The name of the socket may be held for a moment, by what the incarnation before this one has left behind.
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

// Readable once, after `ms` > 0.
Descriptor make_timer(std::int64_t ms) {
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec when{};
  when.it_value.tv_sec = ms / 1000;
  when.it_value.tv_nsec = ms % 1000 * 1'000'000;
  if (timer.valid()) ::timerfd_settime(timer.get(), 0, &when, nullptr);
  return timer;
}

}  // namespace

SupervisorLink::SupervisorLink(HandoverState known, Descriptor control, Descriptor listener, std::string child)
    : known_(std::move(known)),
      child_(std::move(child)),
      control_(std::move(control)),
      listener_(std::move(listener)) {}

SupervisorLink::~SupervisorLink() = default;

// A supervisor that does not find a process takes it for dead and begins its next incarnation. So a process that could
// not be found when its supervisor died must not begin: first it listens, then it looks whether the supervisor still
// lives.
std::unique_ptr<SupervisorLink> SupervisorLink::open(const LaunchSpec& spec, std::string child) {
  Descriptor control(spec.control_fd);
  auto known = HandoverState::copy(spec);
  auto listener = listen_patiently(spec.config.name, child);
  absl::Status status = known.status();
  status.Update(listener.status());
  if (!status.ok()) {
    send_message(control.get(), failure_text(status)).IgnoreError();
    return nullptr;
  }
  if (other_end_closed(control.get())) return nullptr;
  return std::unique_ptr<SupervisorLink>(
      new SupervisorLink(*std::move(known), std::move(control), *std::move(listener), std::move(child)));
}

void SupervisorLink::say_ready() { send("ready").IgnoreError(); }

void SupervisorLink::say_failed(const absl::Status& why) { send(failure_text(why)).IgnoreError(); }

absl::Status SupervisorLink::send(std::string_view text, std::span<const int> fds) {
  if (!control_.valid() || orphan_) return absl::FailedPreconditionError("there is no supervisor");
  return send_message(control_.get(), text, fds);
}

void SupervisorLink::watch(EventLoop& loop, std::function<void(ControlWord)> hear) {
  loop_ = &loop;
  hear_ = std::move(hear);
  loop_->watch(listener_.get(), [this] { accept(); });
  watch_control();
}

void SupervisorLink::watch_control() {
  loop_->watch(control_.get(), [this] { read_control(); });
}

void SupervisorLink::read_control() {
  while (control_.valid()) {
    ReceivedMessage message = receive_message(control_.get());
    if (message.outcome == ReceivedMessage::Outcome::kNothing) return;
    if (message.outcome == ReceivedMessage::Outcome::kEnd) return lose_control();
    handle(parse_control_word(std::move(message)));
  }
}

void SupervisorLink::handle(ControlWord word) {
  switch (word.kind) {
    case ControlWord::Kind::kDrain:
    case ControlWord::Kind::kLeave:
      return hear_(std::move(word));
    case ControlWord::Kind::kLife:
      if (known_.begin_incarnation(word)) hear_(std::move(word));
      return;
    case ControlWord::Kind::kSnapshot:
      return known_.keep_snapshot(std::move(word));
    case ControlWord::Kind::kDescribe:
      if (!known_.send(control_.get()).ok()) lose_control();
      return;
    case ControlWord::Kind::kAdopted:
      orphan_ = false;
      if (grace_timer_.valid()) loop_->unwatch(grace_timer_.get());
      grace_timer_.reset();
      return;
    case ControlWord::Kind::kNone:
    case ControlWord::Kind::kGone:
      return;
  }
}

// An orphan that loses somebody who never adopted it is what it was before.
void SupervisorLink::lose_control() {
  loop_->unwatch(control_.get());
  control_.reset();
  if (!orphan_) begin_grace();
}

void SupervisorLink::begin_grace() {
  orphan_ = true;
  orphan_since_ns_ = monotonic_ns();
  const std::int64_t grace_ms = known_.spec().config.orphan_grace_ms;
  if (grace_ms == 0) return grace_over();
  grace_timer_ = make_timer(grace_ms);
  if (!grace_timer_.valid()) return grace_over();  // no descriptors left: better gone than here for ever
  loop_->watch(grace_timer_.get(), [this] { grace_ended(); });
}

// A process that was stopped for longer than its grace wakes to its timer and to whoever has come meanwhile, in any order:
// who adopted it goes before the timer.
void SupervisorLink::grace_ended() {
  read_control();
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
  ControlWord leave;
  leave.kind = ControlWord::Kind::kLeave;
  hear_(std::move(leave));
}

bool SupervisorLink::accept() {
  Descriptor supervisor = accept_supervisor(listener_.get());
  if (!supervisor.valid()) return false;
  read_control();  // its end may have come meanwhile; and what was said before it counts
  if (control_.valid()) {
    const auto refusal = absl::AlreadyExistsError(absl::StrCat(child_, " has a supervisor"));
    send_message(supervisor.get(), failure_text(refusal)).IgnoreError();
    return true;
  }
  control_ = std::move(supervisor);
  watch_control();
  const OrphanGreeting greeting{kIngotVersion, known_.generation(), orphan_ms()};
  send_message(control_.get(), greeting.text()).IgnoreError();
  read_control();  // whoever met a stopped process has said "adopted" already
  return true;
}

std::int64_t SupervisorLink::orphan_ms() const {
  return static_cast<std::int64_t>((monotonic_ns() - orphan_since_ns_) / 1'000'000);
}

}  // namespace ingot
