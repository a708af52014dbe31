// Clients for tests of the server: one of HTTP/2 by nghttp2, which obeys the protocol, and frames by hand for those that
// do not.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/host/descriptor.h"

namespace ingot::rpc {

using Headers = std::vector<std::pair<std::string, std::string>>;

// What came for one call.
struct Answer {
  std::map<std::string, std::string> headers;   // the first block
  std::map<std::string, std::string> trailers;  // the second one
  std::string body;
  bool ended = false;       // by END_STREAM
  bool closed = false;
  std::uint32_t reset = 0;  // the code, once closed
  std::vector<std::uint8_t> frames;  // types, in order

  // grpc-status, of the trailers or of the only block; -1: none.
  int status() const;
  std::string message() const;  // percent-encoded
};

// A gRPC message with its prefix.
std::string framed(std::string_view message, bool compressed = false);

class RawClient {
 public:
  struct Options {
    bool auto_window = true;           // false: received bytes are not given back to the windows
    std::uint32_t stream_window = 65'535;
  };
  explicit RawClient(Descriptor socket) : RawClient(std::move(socket), Options()) {}
  RawClient(Descriptor socket, Options options);
  ~RawClient();

  static Headers grpc_headers(const std::string& path);

  // Begins a call with these bytes; `end`: they are all.
  std::int32_t call(const std::string& path, const std::string& bytes, bool end = true) {
    return call(grpc_headers(path), bytes, end);
  }
  std::int32_t call(const Headers& headers, const std::string& bytes, bool end = true);
  void send(std::int32_t id, const std::string& bytes, bool end = false);
  void reset(std::int32_t id, std::uint32_t code = NGHTTP2_CANCEL);
  void ping();

  // One read and one write. Returns whether anything moved.
  bool exchange();
  void read_nothing(bool nothing) { reading_ = !nothing; }

  Answer& answer(std::int32_t id) { return answers_[id]; }
  bool lost() const { return lost_; }                      // the server has closed
  const std::vector<std::pair<std::uint32_t, std::string>>& goaways() const { return goaways_; }  // codes and texts
  std::vector<std::int32_t> goaway_streams;                // the last streams in them
  nghttp2_session* h2() { return h2_; }
  Descriptor& socket() { return socket_; }

 private:
  struct Upload {
    std::string bytes;
    bool end = false;
    bool deferred = false;
  };
  friend struct ClientCallbacks;

  Descriptor socket_;
  nghttp2_session* h2_ = nullptr;
  std::map<std::int32_t, Answer> answers_;
  std::map<std::int32_t, Upload> uploads_;
  std::vector<std::pair<std::uint32_t, std::string>> goaways_;
  std::string unsent_;
  bool reading_ = true;
  bool lost_ = false;
};

// Frames by hand.
inline constexpr std::string_view kClientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload);
std::string settings_frame();
// A header block without compression.
std::string header_block(const Headers& headers);
// Writes all of it as far as the socket takes it. Returns how much it took.
std::size_t write_all(const Descriptor& socket, std::string_view bytes);
std::string read_all(const Descriptor& socket);
// Whether the peer has closed; drops what it sent before.
bool at_end(const Descriptor& socket);
// The code and the text of the first GOAWAY among these frames; {-1, ""}: none.
std::pair<int, std::string> goaway_in(std::string_view frames);

}  // namespace ingot::rpc
