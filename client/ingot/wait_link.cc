#include "client/ingot/wait_link.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "client/ingot/limits.h"
#include "replication/view/board/board.h"
#include "transport/host/segment.h"

namespace ingot::inline client_ingot {

namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;

absl::StatusOr<std::uint64_t> identity_of(const ViewTicket& ticket) {
  const auto memory = Segment::map(ticket.board.get(), Segment::Access::kReadOnly);
  if (!memory.ok()) return memory.status();
  const auto board = BoardReader::open(memory->bytes());
  if (!board.ok()) return board.status();
  return board->identity();
}

bool add_to(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

bool WaitLink::wait(std::string_view prefix, std::int64_t after_revision, std::int64_t now_ns) {
  if (!waits_ || prefix != prefix_ || after_revision != after_revision_) {
    waits_ = true;
    asked_ = false;
    prefix_ = prefix;
    after_revision_ = after_revision;
  }
  ended_ = false;
  advance(now_ns);
  return std::exchange(ended_, false);
}

void WaitLink::advance(std::int64_t now_ns) {
  if (!waits_ && !age_wanted_) return;
  if (!connection_) connect(now_ns);
  if (connection_ && !ticket_taken_) take_ticket(now_ns);
  if (connection_ && ticket_taken_) ask(now_ns);
  if (connection_ && ticket_taken_) look(now_ns);
}

void WaitLink::connect(std::int64_t now_ns) {
  if (now_ns < connect_at_ns_) return;
  connected_ns_ = now_ns;
  auto connection = ViewConnection::open_first(paths_);
  if (!connection.ok()) return lose(connection.status(), now_ns);
  connection_ = *std::move(connection);
  ticket_taken_ = age_asked_ = asked_ = false;
  set_timer(0);
  watch_connection();
}

void WaitLink::take_ticket(std::int64_t now_ns) {
  const auto ticket = connection_->take(0);
  if (!ticket) return;
  const auto identity = ticket->ok() ? identity_of(**ticket) : ticket->status();
  if (!identity.ok()) return lose(identity.status(), now_ns);
  identity_ = *identity;
  ticket_taken_ = true;
  failure_ = absl::OkStatus();
}

void WaitLink::ask(std::int64_t now_ns) {
  bool sent = true;
  if (age_wanted_ && !age_asked_) sent = age_asked_ = connection_->ask_age();
  if (sent && waits_ && !asked_) sent = asked_ = connection_->ask_wait(prefix_, after_revision_);
  if (!sent) lose(absl::UnavailableError("the view's publisher has ended the connection"), now_ns);
}

// A byte may be that of a wait before this one: then this one ends without a change.
void WaitLink::look(std::int64_t now_ns) {
  const auto changed = connection_->changed();
  if (!changed.ok()) return lose(changed.status(), now_ns);
  if (!*changed || !waits_) return;
  waits_ = false;
  ended_ = true;
}

// A forked child may have the connection open, so that closing it does not take it out of the epoll.
void WaitLink::lose(const absl::Status& why, std::int64_t now_ns) {
  if (connection_ && epoll_.valid()) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection_->fd(), nullptr);
  connection_.reset();
  failure_ = why;
  const auto jitter_ns = static_cast<std::int64_t>(prng_.unit() * static_cast<double>(kConnectJitterNs));
  connect_at_ns_ = std::max(now_ns, connected_ns_ + kConnectAgainNs) + jitter_ns;
  set_timer(connect_at_ns_);
}

void WaitLink::poll(std::int64_t now_ns, std::int64_t wait_ms) {
  std::int64_t most_ms = wait_ms < 0 ? std::numeric_limits<int>::max() : wait_ms;
  if (!connection_) most_ms = std::min(most_ms, (connect_at_ns_ - now_ns + kMsNs - 1) / kMsNs);
  pollfd waits{connection_ ? connection_->fd() : -1, POLLIN, 0};
  ::poll(&waits, 1, static_cast<int>(std::clamp<std::int64_t>(most_ms, 0, std::numeric_limits<int>::max())));
}

int WaitLink::fd() {
  if (epoll_.valid()) return epoll_.get();
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll.valid() || !timer.valid() || !add_to(epoll.get(), timer.get())) return -1;
  epoll_ = std::move(epoll);
  timer_ = std::move(timer);
  if (connection_) {
    watch_connection();
  } else {
    set_timer(connect_at_ns_);
  }
  return epoll_.get();
}

// Without a place in the epoll, the timer makes it readable.
void WaitLink::watch_connection() {
  if (epoll_.valid() && !add_to(epoll_.get(), connection_->fd())) set_timer(1);
}

// 0: never. A time that has passed ends the wait at once.
void WaitLink::set_timer(std::int64_t at_ns) {
  if (!timer_.valid()) return;
  itimerspec at{};
  at.it_value.tv_sec = at_ns / kSecondNs;
  at.it_value.tv_nsec = at_ns % kSecondNs;
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

// Both processes have one epoll in common, so nothing is taken out of it here.
void WaitLink::forget() {
  epoll_.reset();
  timer_.reset();
  connection_.reset();
  failure_ = absl::OkStatus();
  connected_ns_ = connect_at_ns_ = 0;
  prng_ = Prng(prng_() ^ static_cast<std::uint64_t>(::getpid()));
}

}  // namespace ingot::client_ingot
