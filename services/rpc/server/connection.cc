#include "services/rpc/server/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <utility>

#include "services/rpc/wire/free_memory.h"
#include "services/sockets/passed_descriptors.h"
#include "transport/host/event_loop.h"

namespace ingot::rpc::inline server {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::string_view kHttp1Methods[] = {"GET ",     "HEAD ",  "POST ",  "PUT ",    "DELETE ",
                                              "OPTIONS ", "PATCH ", "TRACE ", "CONNECT "};
constexpr std::uint64_t kMsNs = 1'000'000;

bool may_become(std::string_view text, std::string_view whole) {
  return text.substr(0, whole.size()) == whole.substr(0, text.size());
}

// Whether the request goes to etcd's JSON gateway: there answers come one after the other on a connection.
bool asks_for_call(std::string_view head) {
  const std::size_t space = head.find(' ');
  return space != std::string_view::npos && head.substr(space + 1).starts_with("/v3");
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(asio::io_context& io, Descriptor socket, Caller caller, Shared& shared, ConnectionHost& host)
    : socket_(io, socket.release()),
      caller_(std::move(caller)),
      shared_(shared),
      host_(host),
      deadline_(this, [](void* self) { static_cast<Connection*>(self)->time_is_up(); }),
      progress_(this, [](void* self) { static_cast<Connection*>(self)->look_at_progress(); }),
      accepted_ns_(shared.now_ns),
      may_pass_descriptors_(caller_.door == Caller::Door::kUnix && watch_for_descriptors(socket_.native_handle())) {}

Connection::~Connection() = default;

void Connection::start() {
  shared_.timers.set(deadline_, shared_.now_ns + shared_.bounds.preface_timeout_ms * kMsNs);
  wait_readable();
}

void Connection::wait_readable() {
  if (std::exchange(waiting_readable_, true)) return;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    self->waiting_readable_ = false;
    if (!error && self->open()) self->wait_turn(false);
  });
}

void Connection::wait_writable() {
  if (std::exchange(waiting_writable_, true)) return;
  socket_.async_wait(asio::posix::stream_descriptor::wait_write, [self = shared_from_this()](const error_code& error) {
    self->waiting_writable_ = false;
    if (!error && self->open()) self->has_output();
  });
}

void Connection::has_output() {
  if (!std::exchange(dirty_, true)) host_.dirty(shared_from_this());
}

void Connection::read_on() {
  if (std::exchange(unread_, false)) wait_turn(false);
}

// It may be read without having been in line, when its time is up.
void Connection::wait_turn(bool backlogged) {
  if (std::exchange(in_line_, true)) return;
  backlogged ? host_.backlogged(shared_from_this()) : host_.readable(shared_from_this());
}

void Connection::turn() {
  in_line_ = false;
  read();
}

void Connection::read() {
  if (!open()) return;
  if (hold_reading()) {
    unread_ = true;
    return;
  }
  const std::span<char> whole = host_.read_buffer();
  const std::span<char> buffer = whole.first(std::min(whole.size(), turn_size_.bytes()));
  const std::uint64_t began_ns = monotonic_ns();
  const ssize_t bytes = receive(buffer);
  shared_.count(&ServerCounters::reads);
  if (bytes < 0 && would_block(errno)) return wait_readable();
  if (bytes <= 0) return close();  // a peer that has ended its sending awaits no answer
  shared_.count(&ServerCounters::received_bytes, static_cast<std::uint64_t>(bytes));
  received({buffer.data(), static_cast<std::size_t>(bytes)});
  if (!open()) return;
  turn_size_.took(static_cast<std::size_t>(bytes), monotonic_ns() - began_ns);
  if (static_cast<std::size_t>(bytes) < buffer.size()) {
    wait_readable();
  } else {
    wait_turn(true);
  }
}

bool Connection::hold_reading() const {
  return session_ != nullptr && (session_->hold_reading() || (calls_ != nullptr && !ending_ && calls_->full()));
}

ssize_t Connection::receive(std::span<char> buffer) {
  if (may_pass_descriptors_) return receive_bytes(socket_.native_handle(), buffer);
  return ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
}

void Connection::received(std::string_view bytes) {
  switch (phase_) {
    case Phase::kHttp2:
      if (!ending_) receive_http2(bytes);
      return;
    case Phase::kDetecting:
      head_.append(bytes);
      return detect();
    case Phase::kHttp1:
      if (!ending_) receive_http1(bytes);  // else it is answered, and the rest of its request says nothing
      return;
    case Phase::kLingering:
      return receive_lingering(bytes.size());
    case Phase::kClosed:
      return;
  }
}

// A half-open preface costs no session.
void Connection::detect() {
  if (may_become(head_, kPreface)) {
    if (head_.size() >= kPreface.size()) begin_http2();
    return;
  }
  for (const std::string_view method : kHttp1Methods) {
    if (!may_become(head_, method)) continue;
    if (head_.size() < method.size()) return;
    phase_ = Phase::kHttp1;
    return receive_http1({});
  }
  shared_.count(&ServerCounters::ended_malformed);
  close();
}

void Connection::begin_http2() {
  session_ = Session::create(shared_, *this);
  if (session_ == nullptr) return close();
  phase_ = Phase::kHttp2;
  const std::string head = std::exchange(head_, std::string());
  if (shared_.draining) session_->drain();
  receive_http2(head);
}

void Connection::receive_http2(std::string_view bytes) {
  if (!session_->receive(bytes)) return end_soon();
  if (session_->greeted() && deadline_.set()) deadline_.cancel();
}

void Connection::receive_http1(std::string_view bytes) {
  if (calls_ != nullptr) return receive_http1_calls(bytes);
  head_.append(bytes);
  const bool whole = head_.find("\r\n\r\n") != std::string::npos;
  if (!whole && head_.size() <= kHttp1RequestBytesMax) return;
  if (whole && asks_for_call(head_)) return begin_http1_calls();
  keep_unsent(host_.answer_http1(whole ? std::string_view(head_) : std::string_view()));
  free_memory(head_);
  deadline_.cancel();
  end_soon();
}

void Connection::begin_http1_calls() {
  session_ = Session::create(shared_, *this);
  if (session_ == nullptr) return close();
  const auto others = [this](std::string_view head) { return host_.answer_http1(head); };
  calls_ = Http1Calls::create(shared_, *session_, *this, others);
  if (calls_ == nullptr) return close();
  if (shared_.draining) session_->drain();
  deadline_.cancel();
  receive_http1_calls(std::exchange(head_, std::string()));
}

void Connection::receive_http1_calls(std::string_view bytes) {
  if (!calls_->receive(bytes)) return end_soon();
  bound_request();
}

// A request that has begun has its time.
void Connection::bound_request() {
  if (std::exchange(request_bounded_, calls_->awaits_rest()) == request_bounded_) return;
  deadline_.cancel();
  if (request_bounded_) shared_.timers.set(deadline_, shared_.now_ns + shared_.bounds.http1_request_timeout_ms * kMsNs);
}

void Connection::end_soon() {
  ending_ = true;
  has_output();
}

bool Connection::idle() const {
  if (session_ == nullptr || ending_ || request_bounded_ || session_->streams() > 0 || !unsent_.empty()) return false;
  return shared_.now_ns >= session_->called_ns() + kIdleGraceMs * kMsNs;
}

// A call that has come may still be unread. One that comes from now on is not begun: a client of HTTP/2 sees so by the
// GOAWAY, and makes it on another connection.
bool Connection::end_if_idle() {
  if (!idle()) return false;
  read();
  if (!open()) return true;
  if (!idle()) return false;
  shared_.count(&ServerCounters::ended_silent);
  session_->last_goaway();
  end_soon();
  return true;
}

void Connection::flush() {
  dirty_ = false;
  if (!open() || phase_ == Phase::kLingering) return;
  if (session_ != nullptr && session_->overflowed()) return close();
  if (!write_unsent()) return;
  if (session_ != nullptr) {
    std::string& buffer = host_.write_buffer();
    constexpr int kWritesPerFlush = 4;
    for (int i = 0; i < kWritesPerFlush; ++i) {
      buffer.clear();
      const bool well = calls_ != nullptr ? calls_->output(buffer) : session_->frames(buffer);
      const bool more = buffer.size() >= kWriteBytes;
      if (!buffer.empty() && !write(buffer)) break;
      if (!well || (!more && session_->over())) ending_ = true;
      if (!more) break;
      if (i + 1 == kWritesPerFlush) has_output();  // others first
    }
    if (!open()) return;  // the peer has gone, and the session with it
    session_->tell_writable();
    if (calls_ != nullptr && !ending_) bound_request();
    if (unread_ && !hold_reading()) read_on();  // calls wait for the peer now, which may send window
  }
  watch_progress();
  if (ending_ && unsent_.empty() && open()) linger();
}

// False: the socket does not take it all, or the connection is lost.
bool Connection::write(std::string_view bytes) {
  const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shared_.count(&ServerCounters::writes);
  if (sent < 0 && !would_block(errno)) {
    close();
    return false;
  }
  const std::size_t taken = sent < 0 ? 0 : static_cast<std::size_t>(sent);
  if (taken > 0) {
    if (session_ != nullptr) session_->bytes_sent(taken);
    shared_.count(&ServerCounters::sent_bytes, taken);
  }
  if (taken == bytes.size()) return true;
  if (bytes.data() == unsent_.data()) {
    unsent_.erase(0, taken);
    shared_.output_bytes -= taken;
  } else {
    keep_unsent(bytes.substr(taken));
  }
  wait_writable();
  watch_progress();
  return false;
}

bool Connection::write_unsent() {
  if (unsent_.empty()) return true;
  if (waiting_writable_ || !write(unsent_)) return false;
  drop_unsent();
  return true;
}

// Frames are in the loop's account, too. REQUIRES: there are none.
void Connection::keep_unsent(std::string_view bytes) {
  unsent_.assign(bytes);
  shared_.output_bytes += bytes.size();
}

void Connection::drop_unsent() {
  shared_.output_bytes -= unsent_.size();
  if (unsent_.capacity() > kKeptCapacityBytes) shared_.freed_bytes += unsent_.capacity();
  free_memory(unsent_);
}

// The peer may have sent more than was read. A close would then reset the connection, and the peer might lose the last
// frames. So the server ends its own sending first, and reads on for a while.
void Connection::linger() {
  phase_ = Phase::kLingering;
  calls_.reset();
  session_.reset();
  progress_.cancel();
  ::shutdown(socket_.native_handle(), SHUT_WR);
  shared_.timers.set(deadline_, shared_.now_ns + kLingerMs * kMsNs);
  wait_readable();
}

void Connection::receive_lingering(std::size_t bytes) {
  lingered_bytes_ += bytes;
  if (lingered_bytes_ > kLingerBytesMax) close();
}

// What the peer has sent in time may still be unread: the loop may have had no processor for as long, or more newcomers
// than a round reads.
void Connection::time_is_up() {
  if (phase_ != Phase::kLingering) {
    read();
    if (!open() || ending_ || (calls_ != nullptr ? !request_bounded_ : session_ != nullptr && session_->greeted())) return;
    shared_.count(&ServerCounters::ended_silent);
  }
  close();
}

// While something waits that the peer should take: it has to take enough of it in each period.
void Connection::watch_progress() {
  if (std::exchange(taken_seen_, taken_bytes()) < taken_bytes()) progress_ns_ = shared_.now_ns;
  const std::size_t owed = owed_bytes();
  if (owed == 0) return progress_.cancel();
  if (progress_.set()) return;
  looked_ = false;
  owed_then_ = owed;
  taken_then_ = taken_bytes();
  progress_ns_ = shared_.now_ns;
  const std::uint64_t ms = shared_.draining ? shared_.bounds.stalled_end_ms : shared_.bounds.stalled_write_ms;
  shared_.timers.set(progress_, shared_.now_ns + ms * kMsNs);
}

void Connection::look_at_progress() {
  // The loop may have had no processor for so long. Then what the peer has taken meanwhile is seen in this round.
  if (shared_.draining && !std::exchange(looked_, true)) {
    has_output();
    read_on();
    return shared_.timers.set(progress_, shared_.now_ns + shared_.bounds.stalled_end_ms * kMsNs / 10);
  }
  const std::size_t enough = shared_.draining ? 1 : kReadBytesMin;  // draining is bounded as a whole
  if (taken_bytes() >= taken_then_ + static_cast<std::int64_t>(std::min(owed_then_, enough))) return watch_progress();
  shared_.count(&ServerCounters::ended_stalled);
  close();
}

void Connection::drain() {
  if (session_ != nullptr) session_->drain();
  if (phase_ == Phase::kDetecting) return close();
  progress_.cancel();  // that was set for longer than a draining server waits
  watch_progress();
}

void Connection::close() {
  if (!open()) return;
  phase_ = Phase::kClosed;
  if (is_linked()) unlink();
  calls_.reset();
  session_.reset();
  deadline_.cancel();
  progress_.cancel();
  drop_unsent();
  free_memory(head_);
  error_code ignored;
  if (may_pass_descriptors_) close_unread(Descriptor(socket_.release()));
  else socket_.close(ignored);
  host_.closed(*this);
}

}  // namespace ingot::rpc::server
