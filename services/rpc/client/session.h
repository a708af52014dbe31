// HTTP/2 on one connection, by nghttp2: streams for calls in, bytes out; bytes in, ended calls out. No sockets, no
// clock. Internal to services/rpc/client.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "services/rpc/client/open_call.h"

namespace ingot::rpc::client {

// Not thread-safe. A call is submitted once; until it is among the ended ones, or detached, it stays where it is.
class Session {
 public:
  // `authority` is for every request, and outlives the session.
  Session(const std::string& authority, std::size_t answer_bytes_max);
  Session(const Session&) = delete;
  ~Session();

  // The server's settings have come.
  bool ready() const { return ready_; }
  // The server takes more calls: it is ready and has not said goodbye.
  bool accepts() const { return ready_ && !going_away_; }
  bool going_away() const { return going_away_; }
  std::size_t open_calls() const { return calls_.size(); }
  std::uint64_t calls_begun() const { return calls_begun_; }

  // REQUIRES: accepts(). False: HTTP/2 has no more streams on this connection.
  [[nodiscard]] bool submit(OpenCall& call);
  // The call has a stream here, and has not ended.
  bool holds(const OpenCall& call) const;
  // Resets the call's stream, and forgets the call. REQUIRES: holds(call).
  void detach(OpenCall& call);
  // Forgets all calls, which have not ended; to be called when the connection is lost.
  std::vector<OpenCall*> detach_all();

  // Takes bytes of the connection. An error, with a sentence, ends the connection.
  absl::Status receive(std::string_view bytes);
  // Replaces `ended` by the calls that have ended since the last time, each with its status.
  void take_ended(std::vector<OpenCall*>& ended);

  // Appends what is to be sent, up to some kOutputBytes.
  absl::Status output(std::string& out);
  // Nothing is left to be said on this connection, or heard.
  bool finished() const;

 private:
  struct Delete {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  struct Callbacks;
  friend struct Callbacks;

  OpenCall* find(std::int32_t stream);
  void end(OpenCall& call, grpc::Status status);

  const std::string& authority_;
  const std::size_t answer_bytes_max_;
  std::unique_ptr<nghttp2_session, Delete> session_;
  absl::flat_hash_map<std::int32_t, OpenCall*> calls_;  // by stream
  OpenCall* last_found_ = nullptr;                      // a stream's callbacks come one after the other
  std::vector<OpenCall*> ended_;
  std::uint64_t calls_begun_ = 0;
  bool ready_ = false;
  bool going_away_ = false;
};

}  // namespace ingot::rpc::client
