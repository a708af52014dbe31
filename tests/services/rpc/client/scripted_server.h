// A server of HTTP/2 that does what a test tells it, right or wrong; gRPC C++'s server does only what is right.
#pragma once

#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/check.h"

namespace ingot::rpc::client {

// One connection at a time, on a thread of its own.
class ScriptedServer {
 public:
  // `begins` is called for each connection, `request` for each request when its headers have come.
  struct Script {
    std::function<void(ScriptedServer&)> begins = [](ScriptedServer& server) { server.settings({}); };
    std::function<void(ScriptedServer&, std::int32_t stream)> request = [](ScriptedServer&, std::int32_t) {};
  };

  explicit ScriptedServer(Script script) : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    INGOT_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    INGOT_CHECK(::listen(listener_, 16) == 0);
    INGOT_CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    stop_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    if (const int connection = connection_; connection >= 0) ::shutdown(connection, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  const std::string& address() const { return address_; }
  int connections() const { return connections_; }

  // For scripts only, from here on.
  void settings(std::vector<nghttp2_settings_entry> entries) {
    INGOT_CHECK(nghttp2_submit_settings(session_, 0, entries.data(), entries.size()) == 0);
  }
  void raw(std::string_view bytes) { raw_ += bytes; }
  // Headers without an end, then one DATA frame, then trailers.
  void answer(std::int32_t stream, std::string_view body, std::string_view grpc_status = "0") {
    headers(stream, NGHTTP2_FLAG_NONE, {{":status", "200"}, {"content-type", "application/grpc"}});
    flush();
    std::string frame = {0,
                         static_cast<char>(body.size() >> 8),
                         static_cast<char>(body.size()),
                         0,
                         0,
                         0,
                         0,
                         0,
                         static_cast<char>(stream)};
    raw(frame);
    raw(body);
    headers(stream, NGHTTP2_FLAG_END_STREAM, {{"grpc-status", grpc_status}});
  }
  void headers(std::int32_t stream, std::uint8_t flags,
               const std::vector<std::pair<std::string_view, std::string_view>>& fields) {
    std::vector<nghttp2_nv> block;
    for (const auto& [name, value] : fields) {
      block.push_back({bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    INGOT_CHECK(nghttp2_submit_headers(session_, flags, stream, nullptr, block.data(), block.size(), nullptr) >= 0);
  }
  // After what was submitted before, which nghttp2 would let it overtake.
  void reset(std::int32_t stream, std::uint32_t code) {
    flush();
    nghttp2_submit_rst_stream(session_, 0, stream, code);
  }
  void goaway(std::int32_t last_stream) {
    nghttp2_submit_goaway(session_, 0, last_stream, NGHTTP2_NO_ERROR, nullptr, 0);
  }
  void close() { closes_ = true; }
  // Sends nothing on this connection.
  void fall_silent() { silent_ = true; }

 private:
  static std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto& self = *static_cast<ScriptedServer*>(user);
    if (frame->hd.type == NGHTTP2_HEADERS) self.script_.request(self, frame->hd.stream_id);
    return 0;
  }

  void serve() {
    while (!stop_) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      ++connections_;
      connection_ = connection;
      if (!stop_) serve_one(connection);
      connection_ = -1;
      ::close(connection);
    }
  }

  void serve_one(int connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    closes_ = silent_ = false;
    raw_.clear();
    script_.begins(*this);
    std::array<std::uint8_t, 65536> input;
    for (bool open = send(connection); open && !closes_; open = send(connection)) {
      const ssize_t n = ::recv(connection, input.data(), input.size(), 0);
      if (n <= 0 || nghttp2_session_mem_recv(session_, input.data(), static_cast<std::size_t>(n)) < 0) break;
    }
    nghttp2_session_del(session_);
  }

  // What nghttp2 has to send, behind the bytes that a script gave.
  void flush() {
    const std::uint8_t* bytes = nullptr;
    while (const ssize_t n = nghttp2_session_mem_send(session_, &bytes)) {
      if (n < 0) break;
      raw_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
    }
  }
  bool send(int connection) {
    flush();
    const std::string out = std::exchange(raw_, {});
    if (silent_) return true;
    return ::send(connection, out.data(), out.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(out.size());
  }

  const Script script_;
  const int listener_;
  std::string address_;
  std::atomic<bool> stop_{false};
  std::atomic<int> connection_{-1};
  std::atomic<int> connections_{0};
  nghttp2_session* session_ = nullptr;
  std::string raw_;
  bool closes_ = false;
  bool silent_ = false;
  std::thread thread_;
};

}  // namespace ingot::rpc::client
