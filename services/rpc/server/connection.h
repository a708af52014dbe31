// One connection: its socket, and what is spoken on it.
//
//     kDetecting -> kHttp2 -> kLingering -> closed
//                -> kHttp1 -> kLingering           its calls with JSON have a session, too
//
// No buffer belongs to a connection that waits: reading and writing use the loop's, and only what the socket does not
// take is kept.
#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "services/access/caller.h"
#include "services/rpc/server/http1_calls.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"
#include "services/rpc/server/timers.h"
#include "services/rpc/server/turn_size.h"
#include "transport/host/descriptor.h"

namespace ingot::rpc::inline server {

class Connection;

// What a connection asks of its server. Each call takes effect later, in poll() or flush().
class ConnectionHost {
 public:
  virtual void readable(std::shared_ptr<Connection> connection) = 0;
  virtual void backlogged(std::shared_ptr<Connection> connection) = 0;  // its turn was over before its bytes were
  virtual void dirty(std::shared_ptr<Connection> connection) = 0;
  virtual void closed(Connection& connection) = 0;
  virtual std::string answer_http1(std::string_view head) const = 0;
  virtual std::span<char> read_buffer() = 0;  // as long as this turn may be
  virtual std::string& write_buffer() = 0;

 protected:
  ~ConnectionHost() = default;
};

// Kept alive by its server until it is closed, and by waits that have not ended. Not thread-safe.
class Connection final
    : public SessionHost,
      public std::enable_shared_from_this<Connection>,
      public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Connection(boost::asio::io_context& io, Descriptor socket, Caller caller, Shared& shared, ConnectionHost& host);
  ~Connection();

  void start();

  // Its turn, after readable() or backlogged(): one read. Nothing happens while calls wait for a turn; then it is told
  // again.
  void turn();
  // One write, or some if the socket takes all of much.
  void flush();
  void drain();
  void close();

  // For a server that has no room: whether no call was ever made here, since when.
  bool uncalled() const { return session_ == nullptr || !session_->ever_called(); }
  std::uint64_t accepted_ns() const { return accepted_ns_; }
  // Likewise: ends it if it has had no call for kIdleGraceMs, once its client is told to go elsewhere. Returns whether.
  bool end_if_idle();
  bool open() const { return phase_ != Phase::kClosed; }
  // Whether its peer takes nothing of complete answers since `since_ns`.
  bool stalled_since(std::uint64_t since_ns) const { return owed_bytes() > 0 && progress_ns_ < since_ns; }

  // SessionHost
  void has_output() override;
  void read_on() override;
  const Caller& caller() const override { return caller_; }
  std::size_t unsent_bytes() const override { return unsent_.size(); }

 private:
  enum class Phase : std::uint8_t { kDetecting, kHttp2, kHttp1, kLingering, kClosed };

  void read();
  void wait_turn(bool backlogged);
  void wait_readable();
  void wait_writable();
  ssize_t receive(std::span<char> buffer);
  void received(std::string_view bytes);
  void detect();
  void begin_http2();
  void receive_http2(std::string_view bytes);
  void receive_http1(std::string_view bytes);
  void begin_http1_calls();
  void receive_http1_calls(std::string_view bytes);
  void bound_request();
  bool hold_reading() const;
  bool idle() const;
  void receive_lingering(std::size_t bytes);
  bool write(std::string_view bytes);
  bool write_unsent();
  void keep_unsent(std::string_view bytes);
  void drop_unsent();
  void end_soon();
  void linger();
  void time_is_up();
  // Of answers, with their header blocks, ever. A peer that takes only what HTTP/2 says of itself, such as answers to
  // its pings, takes nothing.
  std::int64_t taken_bytes() const {
    const std::size_t framed = session_ == nullptr ? 0 : session_->framed_bytes();
    return static_cast<std::int64_t>(framed) - static_cast<std::int64_t>(unsent_.size());
  }
  void watch_progress();
  void look_at_progress();
  // Bytes that the peer should take at once: framed, or of complete answers; all of a server that drains.
  std::size_t owed_bytes() const {
    if (session_ == nullptr) return unsent_.size();
    return unsent_.size() + (shared_.draining ? session_->output_bytes() : session_->finished_output_bytes());
  }

  boost::asio::posix::stream_descriptor socket_;
  const Caller caller_;
  Shared& shared_;
  ConnectionHost& host_;
  std::unique_ptr<Session> session_;    // kHttp2; kHttp1 with calls
  std::unique_ptr<Http1Calls> calls_;  // kHttp1; before session_ ends
  std::string head_;                  // kDetecting, kHttp1: what has come so far
  std::string unsent_;                // frames that the socket has not taken
  Timer deadline_;                    // of the preface, of a request, of lingering
  Timer progress_;                    // of a peer that takes its output
  std::uint64_t accepted_ns_ = 0;
  std::uint64_t progress_ns_ = 0;  // when the peer last took something of an answer
  std::int64_t taken_seen_ = 0;    // taken_bytes() when that was looked at
  std::int64_t taken_then_ = 0;    // when progress_ was set
  std::size_t owed_then_ = 0;      // when progress_ was set
  bool looked_ = false;            // once since then, while draining
  std::size_t lingered_bytes_ = 0;
  TurnSize turn_size_;
  const bool may_pass_descriptors_;  // its peer, which must not stop the loop by them
  Phase phase_ = Phase::kDetecting;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool in_line_ = false;  // of connections that are to be read
  bool unread_ = false;   // the socket may have more; read_on() tells the server
  bool dirty_ = false;    // the server knows of output
  bool ending_ = false;   // once all is sent
  bool request_bounded_ = false;  // deadline_ is that of a request to calls_
};

}  // namespace ingot::rpc::server
