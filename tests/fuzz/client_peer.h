// A client of HTTP/2 that is written by hand, so that it can do whatever the protocol allows, and what it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/services/rpc/server/raw_client.h"

namespace ingot::fuzz {

// It keeps to the windows that the server gives, unless it is told to send raw bytes. Not thread-safe.
class Peer {
 public:
  struct Stream {
    std::int64_t window = 0;  // that the server gives
    std::string upload;       // not sent yet
    bool end = false;         // the request ends behind it
    bool ended = false;       // END_STREAM was sent
    bool over = false;        // the server has ended or reset it
    std::string body;         // of the answer
  };

  // `keeps`: answers and streams that are over stay until forget().
  explicit Peer(bool keeps) : keeps_(keeps) {}

  void greet(std::uint32_t stream_window);
  int open(const rpc::Headers& headers, const std::string& body, bool end);
  void upload(int stream, std::string_view bytes, bool end);
  void reset(int stream, std::uint32_t code);
  void settings(std::uint16_t id, std::uint32_t value);
  void window(int stream, std::uint32_t bytes);
  void raw(std::string_view bytes) { control_.append(bytes); }
  void forget(int stream) { streams_.erase(stream); }

  // Appends frames for the server, about `most` bytes.
  void write(std::string& to, std::size_t most);
  bool has_more() const { return !control_.empty(); }
  void receive(std::string_view bytes);

  std::map<int, Stream>& streams() { return streams_; }
  Stream* find(int stream);

  bool gives_window = false;  // for all that comes

 private:
  void take(std::uint8_t type, std::uint8_t flags, int stream, std::string_view payload);
  void take_data(int stream, std::string_view payload);
  void take_settings(std::string_view payload);
  void take_window(int stream, std::string_view payload);
  void end(int stream);

  const bool keeps_;
  std::map<int, Stream> streams_;
  std::string control_;  // frames without a window
  std::string in_;       // the beginning of a frame
  std::int64_t window_ = 65'535;
  std::int64_t stream_window_ = 65'535;
  int next_stream_ = 1;
};

}  // namespace ingot::fuzz
