#include "tests/services/rpc/server/raw_client.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/check.h"
#include "services/rpc/wire/framing.h"

namespace ingot::rpc {

int Answer::status() const {
  const auto& block = trailers.empty() ? headers : trailers;
  const auto found = block.find("grpc-status");
  return found == block.end() ? -1 : std::stoi(found->second);
}

std::string Answer::message() const {
  const auto& block = trailers.empty() ? headers : trailers;
  const auto found = block.find("grpc-message");
  return found == block.end() ? "" : found->second;
}

std::string framed(std::string_view message, bool compressed) {
  const Prefix prefix = message_prefix(message.size(), compressed);
  return std::string(prefix.begin(), prefix.end()).append(message);
}

struct ClientCallbacks {
  static RawClient& of(void* user) { return *static_cast<RawClient*>(user); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_bytes,
                    const std::uint8_t* value, std::size_t value_bytes, std::uint8_t, void* user) {
    Answer& answer = of(user).answers_[frame->hd.stream_id];
    auto& block = frame->headers.cat == NGHTTP2_HCAT_RESPONSE ? answer.headers : answer.trailers;
    block[std::string(reinterpret_cast<const char*>(name), name_bytes)] =
        std::string(reinterpret_cast<const char*>(value), value_bytes);
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t bytes,
                  void* user) {
    of(user).answers_[id].body.append(reinterpret_cast<const char*>(data), bytes);
    return 0;
  }
  static int received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    RawClient& client = of(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      client.goaways_.emplace_back(frame->goaway.error_code,
                                   std::string(reinterpret_cast<const char*>(frame->goaway.opaque_data),
                                               frame->goaway.opaque_data_len));
      client.goaway_streams.push_back(frame->goaway.last_stream_id);
    }
    if (frame->hd.stream_id == 0) return 0;
    Answer& answer = client.answers_[frame->hd.stream_id];
    answer.frames.push_back(frame->hd.type);
    const bool has_flag = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (has_flag && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) answer.ended = true;
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    Answer& answer = of(user).answers_[id];
    answer.closed = true;
    answer.reset = code;
    of(user).uploads_.erase(id);
    return 0;
  }
  static ssize_t upload(nghttp2_session*, std::int32_t id, std::uint8_t* to, std::size_t length, std::uint32_t* flags,
                        nghttp2_data_source*, void* user) {
    RawClient::Upload& upload = of(user).uploads_[id];
    const std::size_t bytes = std::min(length, upload.bytes.size());
    if (bytes == 0 && !upload.end) {
      upload.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    std::memcpy(to, upload.bytes.data(), bytes);
    upload.bytes.erase(0, bytes);
    if (upload.end && upload.bytes.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(bytes);
  }
};

RawClient::RawClient(Descriptor socket, Options options) : socket_(std::move(socket)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, ClientCallbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, ClientCallbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, ClientCallbacks::received);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, ClientCallbacks::closed);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, options.auto_window ? 0 : 1);
  INGOT_CHECK(nghttp2_session_client_new2(&h2_, callbacks, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window};
  nghttp2_submit_settings(h2_, NGHTTP2_FLAG_NONE, &window, 1);
}

RawClient::~RawClient() { nghttp2_session_del(h2_); }

Headers RawClient::grpc_headers(const std::string& path) {
  return {{":method", "POST"}, {":scheme", "http"},  {":authority", "localhost"},
          {":path", path},     {"te", "trailers"}, {"content-type", "application/grpc"}};
}

std::int32_t RawClient::call(const Headers& headers, const std::string& bytes, bool end) {
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : headers) {
    fields.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider{};
  provider.read_callback = ClientCallbacks::upload;
  const std::int32_t id = nghttp2_submit_request(h2_, nullptr, fields.data(), fields.size(), &provider, nullptr);
  INGOT_CHECK(id > 0, "a request can be submitted");
  uploads_[id] = {bytes, end, false};
  return id;
}

void RawClient::send(std::int32_t id, const std::string& bytes, bool end) {
  Upload& upload = uploads_[id];
  upload.bytes += bytes;
  upload.end = end;
  if (std::exchange(upload.deferred, false)) nghttp2_session_resume_data(h2_, id);
}

void RawClient::reset(std::int32_t id, std::uint32_t code) {
  nghttp2_submit_rst_stream(h2_, NGHTTP2_FLAG_NONE, id, code);
}

void RawClient::ping() { nghttp2_submit_ping(h2_, NGHTTP2_FLAG_NONE, nullptr); }

bool RawClient::exchange() {
  bool moved = false;
  char buffer[65536];
  if (reading_ && !lost_) {
    const ssize_t bytes = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (bytes == 0 || (bytes < 0 && errno != EAGAIN)) lost_ = true;
    if (bytes > 0) {
      moved = true;
      const auto* data = reinterpret_cast<const std::uint8_t*>(buffer);
      INGOT_CHECK(nghttp2_session_mem_recv(h2_, data, static_cast<std::size_t>(bytes)) == bytes,
                  "the server obeys the protocol");
    }
  }
  const std::uint8_t* frames = nullptr;
  for (ssize_t bytes; unsent_.size() < sizeof buffer && (bytes = nghttp2_session_mem_send(h2_, &frames)) > 0;) {
    unsent_.append(reinterpret_cast<const char*>(frames), static_cast<std::size_t>(bytes));
  }
  const std::size_t sent = write_all(socket_, unsent_);
  unsent_.erase(0, sent);
  return moved || sent > 0;
}

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  const auto byte = [](std::size_t value) { return static_cast<char>(value & 0xff); };
  const std::size_t size = payload.size();
  std::string bytes = {byte(size >> 16), byte(size >> 8), byte(size),         byte(type),  byte(flags),
                       byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)};
  return bytes.append(payload);
}

std::string settings_frame() { return frame(NGHTTP2_SETTINGS, 0, 0, ""); }

std::string header_block(const Headers& headers) {
  std::string block;
  const auto add = [&](const std::string& text) {
    if (text.size() < 127) {
      block.push_back(static_cast<char>(text.size()));
    } else {
      block.push_back(127);
      std::size_t left = text.size() - 127;
      for (; left >= 128; left >>= 7) block.push_back(static_cast<char>((left & 0x7f) | 0x80));
      block.push_back(static_cast<char>(left));
    }
    block += text;
  };
  for (const auto& [name, value] : headers) {
    block.push_back(0);  // a literal without indexing, with a new name
    add(name);
    add(value);
  }
  return block;
}

std::size_t write_all(const Descriptor& socket, std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t now = ::send(socket.get(), bytes.data() + sent, bytes.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (now <= 0) break;
    sent += static_cast<std::size_t>(now);
  }
  return sent;
}

std::string read_all(const Descriptor& socket) {
  std::string bytes;
  char buffer[65536];
  for (ssize_t now; (now = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT)) > 0;) {
    bytes.append(buffer, static_cast<std::size_t>(now));
  }
  return bytes;
}

bool at_end(const Descriptor& socket) {
  read_all(socket);
  char byte;
  const ssize_t got = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

std::pair<int, std::string> goaway_in(std::string_view frames) {
  const auto number = [&](std::size_t at, int bytes) {
    std::size_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(frames[at + static_cast<std::size_t>(i)]);
    return value;
  };
  while (frames.size() >= 9) {
    const std::size_t size = number(0, 3);
    if (frames.size() < 9 + size) break;
    if (frames[3] == NGHTTP2_GOAWAY) return {static_cast<int>(number(13, 4)), std::string(frames.substr(17, size - 8))};
    frames.remove_prefix(9 + size);
  }
  return {-1, ""};
}

}  // namespace ingot::rpc
