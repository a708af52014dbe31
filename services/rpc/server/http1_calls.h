// Calls with JSON over HTTP/1.1, on one connection. A request becomes a stream of the connection's HTTP/2 session,
// through a client's side of HTTP/2 in memory: so it is a call as any other, with the same bounds, admission queue and
// accounts.
//
//     bytes of the client -> Http1Request -> HTTP/2 frames -> Session
//     bytes for the client <- HTTP/1.1's framing <- HTTP/2 frames <- Session
//
// One request at a time: what the client sends behind it waits. HTTP/2's window opens as the socket takes the answer,
// so a client that does not read holds as much as one of HTTP/2 does.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/rpc/server/http1_request.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"

namespace ingot::rpc::inline server {

// Without the socket. Not thread-safe.
class Http1Calls {
 public:
  // The whole answer to a request with this head that is no call: as answer_http1().
  using Others = std::function<std::string(std::string_view head)>;

  // All outlive the object, which is `session`'s only user. Null: no memory.
  static std::unique_ptr<Http1Calls> create(Shared& shared, Session& session, SessionHost& host, Others others);
  ~Http1Calls();

  // False: the connection ends, once what output() still gives has been sent.
  bool receive(std::string_view bytes);

  // Appends what may be sent, up to some kWriteBytes, once the socket has taken what was appended before. False as
  // above.
  bool output(std::string& bytes);

  // It takes no more before output() has been called.
  bool full() const { return held_bytes() >= kHttp1HeldBytesMax; }
  // Whether a request has begun that is to be complete in kHttp1RequestTimeoutMs.
  bool awaits_rest() const;

 private:
  struct Callbacks;

  Http1Calls(Shared& shared, Session& session, SessionHost& host, Others others);

  // Requests.
  void read_requests();
  void request_begins(std::string head);
  void submit();
  void pass_body();
  ssize_t read_body(std::uint8_t* buffer, std::size_t length, std::uint32_t& flags);
  bool send_frames();

  // Answers.
  void refuse(int status, std::string_view body);
  void answer_begins();
  void answer_part(std::string_view bytes);
  void answer_ends();
  void stream_closed(std::int32_t id);
  void next_request();
  void open_window();

  bool in_call() const { return stream_ >= 0; }
  std::size_t held_bytes() const { return input_.size() + body_.size() - body_sent_; }
  void charge();

  Shared& shared_;
  Session& session_;
  SessionHost& host_;
  const Others others_;
  nghttp2_session* client_ = nullptr;

  std::string input_;                    // received, and not yet parsed
  std::optional<Http1Request> request_;  // that has begun
  std::int32_t stream_ = -1;             // its stream
  bool one_request_ = true;              // JsonMethod::one_request
  bool one_response_ = true;             // JsonMethod::one_response
  std::string body_;                     // that waits for HTTP/2's window
  std::size_t body_sent_ = 0;            // of body_

  int status_ = 0;             // of the answer; 0: its head has not come
  std::string length_;         // content-length of it; empty: unknown
  bool chunked_ = false;       // this answer is sent so
  bool answered_ = false;      // all of it is in answer_
  std::string answer_;         // bytes for the client
  // Bytes of answers, and of this answer, that were taken from HTTP/2 and for which its windows were not opened again.
  std::size_t untaken_ = 0;
  std::size_t untaken_of_stream_ = 0;
  std::size_t charged_ = 0;    // of held_bytes(), in the loop's account
  bool closing_ = false;       // after this answer
  bool ended_ = false;
};

}  // namespace ingot::rpc::server
