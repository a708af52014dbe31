#include "services/view/tickets/server.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/view/tickets/limits.h"
#include "replication/view/tickets/message.h"
#include "services/sockets/passed_descriptors.h"

namespace ingot::inline services_view_tickets {

namespace {

// Of a Unix socket: also true when its peer is closed, which drops what it has not received.
bool all_received(int connection) {
  int bytes = 0;
  return ::ioctl(connection, SIOCOUTQ, &bytes) != 0 || bytes == 0;
}

ViewAsk head_of(const std::string& input) {
  ViewAsk ask;
  std::memcpy(&ask, input.data(), sizeof ask);
  return ask;
}

// Of a question that has begun so: its head, until that is there.
std::size_t question_bytes(const std::string& input) {
  return sizeof(ViewAsk) + (input.size() < sizeof(ViewAsk) ? 0 : head_of(input).prefix_bytes);
}

}  // namespace

TicketServer::TicketServer(EventLoop& loop, Descriptor listener, ViewRights rights, ViewPage& page)
    : loop_(loop), listener_(std::move(listener)), rights_(std::move(rights)), page_(page) {
  page_.connections.set(0);
  loop_.watch(listener_.get(), [this] { accept_some(); });
}

// The listener is the instance's; other processes go on with it.
TicketServer::~TicketServer() {
  loop_.unwatch(listener_.get());
  while (!connections_.empty()) close(connections_.begin()->first);
}

void TicketServer::give(int board, int generation) {
  board_ = board;
  generation_ = generation;
  std::vector<Id> failed;
  for (auto& [id, connection] : connections_) {
    if (!connection.given && !connection.ended && !give_to(connection)) failed.push_back(id);
  }
  for (const Id id : failed) close(id);
}

void TicketServer::refuse(absl::Status why) {
  why_none_ = std::move(why);
  std::vector<Id> refused;
  for (const auto& [id, connection] : connections_) {
    if (!connection.given && !connection.ended) refused.push_back(id);
  }
  for (const Id id : refused) {
    page_.refused.add(1);
    answer(connections_.at(id).fd.get(), why_none_);
    close(id);
  }
}

// ---- Connections ----------------------------------------------------------------------------------------------------

void TicketServer::accept_some() {
  for (int i = 0; i < kAcceptsPerRound; ++i) {
    if (!accept_one()) return;
  }
}

// Without a descriptor for the connection that waits, the listener stays readable: the loop would never sleep.
bool TicketServer::accept_one() {
  Descriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.valid()) {
    admit(std::move(fd));
    return true;
  }
  if (errno == EINTR || errno == ECONNABORTED) return true;
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    loop_.unwatch(listener_.get());
    accept_again_ns_ = now_ns_ + kAcceptRetryMs * 1'000'000;
  }
  return false;
}

void TicketServer::admit(Descriptor fd) {
  const bool guarded = watch_for_descriptors(fd.get());
  const auto caller = view_caller(fd.get());
  absl::Status may = caller.ok() ? may_view(*caller, rights_, overflow_) : caller.status();
  if (may.ok()) may = refusal(caller->uid);
  if (!may.ok()) {
    page_.refused.add(1);
    answer(fd.get(), may);
    return close(std::move(fd), guarded);
  }
  const Id id = next_id_++;
  Connection& connection = connections_[id];
  connection.fd = std::move(fd);
  connection.uid = caller->uid;
  connection.guarded = guarded;
  ++by_user_[connection.uid];
  page_.connections.set(connections_.size());
  if (generation_ < 0 && !why_none_.ok()) {
    page_.refused.add(1);
    answer(connection.fd.get(), why_none_);
    return close(id);
  }
  if (generation_ >= 0 && !give_to(connection)) return close(id);
  loop_.watch(connection.fd.get(), [this, id] { read(id); });
}

absl::Status TicketServer::refusal(uid_t uid) const {
  if (connections_.size() >= kViewConnectionsMax) {
    return absl::ResourceExhaustedError(absl::StrCat("the view socket has ", kViewConnectionsMax,
                                                     " connections, which is as many as it takes; try again later"));
  }
  const auto its = by_user_.find(uid);
  if (its == by_user_.end() || its->second < kViewConnectionsPerUserMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("user ", uid, " has ", kViewConnectionsPerUserMax,
                                                   " connections to the view socket, which is as many as one user may "
                                                   "have; close some, or try again later"));
}

void TicketServer::answer(int fd, const absl::Status& status) {
  (void)send_answer(fd, status, {});
}

bool TicketServer::give_to(Connection& connection) {
  const int fds[] = {board_, generation_};
  connection.given = send_answer(connection.fd.get(), absl::OkStatus(), fds);
  (connection.given ? page_.accepted : page_.refused).add(1);
  return connection.given;
}

void TicketServer::close(Descriptor fd, bool guarded) {
  if (!guarded) return;
  ::shutdown(fd.get(), SHUT_RD);
  close_unread(std::move(fd));
}

// Its client can receive what was sent, as if the connection had been closed.
void TicketServer::end(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (all_received(connection.fd.get())) return close(id);
  if (std::exchange(connection.ended, true)) return;
  loop_.unwatch(connection.fd.get());
  waits_.forget(id);
  ages_ -= std::exchange(connection.age, false) ? 1 : 0;
  ::shutdown(connection.fd.get(), SHUT_RDWR);
  if (ended_++ == 0) look_at_ended_ns_ = now_ns_ + kEndedLookMs * 1'000'000;
}

void TicketServer::look_at_ended() {
  std::vector<Id> received;
  for (const auto& [id, connection] : connections_) {
    if (connection.ended && all_received(connection.fd.get())) received.push_back(id);
  }
  for (const Id id : received) close(id);
  look_at_ended_ns_ = now_ns_ + kEndedLookMs * 1'000'000;
}

void TicketServer::close(Id id) {
  auto found = connections_.extract(id);
  if (found.empty()) return;
  Connection& connection = found.mapped();
  if (connection.ended) {
    --ended_;
  } else {
    loop_.unwatch(connection.fd.get());
  }
  waits_.forget(id);
  if (connection.age) --ages_;
  if (const auto its = by_user_.find(connection.uid); --its->second == 0) by_user_.erase(its);
  page_.connections.set(connections_.size());
  close(std::move(connection.fd), connection.guarded);
}

// ---- Questions ------------------------------------------------------------------------------------------------------

// The rest of one question at most, so that no client has more of a round than others.
void TicketServer::read(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  char bytes[sizeof(ViewAsk) + kWaitPrefixBytesMax];
  const std::span<char> room(bytes, question_bytes(connection.input) - connection.input.size());
  const ssize_t got = connection.guarded
                          ? receive_bytes(connection.fd.get(), room)
                          : ::recv(connection.fd.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(id);  // the end, or descriptors
  connection.input.append(bytes, static_cast<std::size_t>(got));
  if (!take_question(id, connection)) end(id);
}

// False: what came is no question.
bool TicketServer::take_question(Id id, Connection& connection) {
  if (connection.input.size() < sizeof(ViewAsk)) return true;
  const ViewAsk ask = head_of(connection.input);
  if (ask.prefix_bytes > kWaitPrefixBytesMax) return false;
  if (connection.input.size() < sizeof ask + ask.prefix_bytes) return true;
  const std::string prefix = connection.input.substr(sizeof ask);
  connection.input.clear();
  if (ask.kind == ViewAskKind::kWait) {
    waits_.wait(id, prefix, ask.revision);
    return true;
  }
  if (ask.kind != ViewAskKind::kAge || !prefix.empty()) return false;
  ages_ += std::exchange(connection.age, true) ? 0 : 1;
  return true;
}

// A client that does not read its bytes has no need of further ones.
bool TicketServer::send_byte(const Connection& connection) {
  return ::send(connection.fd.get(), &kChangedByte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

int TicketServer::poll(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  if (accept_again_ns_ != 0 && now_ns >= accept_again_ns_) {
    accept_again_ns_ = 0;
    loop_.watch(listener_.get(), [this] { accept_some(); });
    accept_some();
  }
  if (ended_ > 0 && now_ns >= look_at_ended_ns_) look_at_ended();
  if (!waits_.to_look() || now_ns < sweep_ns_) return 0;
  std::vector<Id> ended;
  waits_.look(kWaitsPerRound, ended);
  for (const Id id : ended) {
    if (!send_byte(connections_.at(id))) end(id);
  }
  if (!waits_.to_look()) sweep_ns_ = now_ns + kWaitSweepNs;
  return 1;
}

std::uint64_t TicketServer::deadline_ns() const {
  std::uint64_t ns = waits_.to_look() ? sweep_ns_ : kNever;
  if (ended_ > 0) ns = std::min(ns, look_at_ended_ns_);
  return accept_again_ns_ == 0 ? ns : std::min(ns, accept_again_ns_);
}

}  // namespace ingot::services_view_tickets
