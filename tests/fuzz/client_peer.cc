#include "tests/fuzz/client_peer.h"

#include <algorithm>

namespace ingot::fuzz {
namespace {

constexpr std::size_t kFrameBytesMax = 16'384;
constexpr std::size_t kHeadBytes = 9;
constexpr std::uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4;

std::string number(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + length && i < bytes.size(); ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

void Peer::greet(std::uint32_t stream_window) {
  control_.append(rpc::kClientPreface);
  settings(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window);
}

int Peer::open(const rpc::Headers& headers, const std::string& body, bool end) {
  const int id = next_stream_;
  next_stream_ += 2;
  const bool bare = body.empty() && end;
  const std::uint8_t flags = static_cast<std::uint8_t>(kEndHeaders | (bare ? kEndStream : 0));
  control_ += rpc::frame(NGHTTP2_HEADERS, flags, static_cast<std::uint32_t>(id), rpc::header_block(headers));
  Stream& stream = streams_[id];
  stream.window = stream_window_;
  stream.ended = bare;
  if (!bare) upload(id, body, end);
  return id;
}

void Peer::upload(int id, std::string_view bytes, bool end) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->ended) return;
  stream->upload.append(bytes);
  stream->end |= end;
}

void Peer::reset(int id, std::uint32_t code) {
  control_ += rpc::frame(NGHTTP2_RST_STREAM, 0, static_cast<std::uint32_t>(id), number(code, 4));
  end(id);
}

void Peer::settings(std::uint16_t id, std::uint32_t value) {
  control_ += rpc::frame(NGHTTP2_SETTINGS, 0, 0, number(id, 2) + number(value, 4));
}

void Peer::window(int id, std::uint32_t bytes) {
  control_ += rpc::frame(NGHTTP2_WINDOW_UPDATE, 0, static_cast<std::uint32_t>(id), number(bytes, 4));
}

Peer::Stream* Peer::find(int id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : &found->second;
}

void Peer::write(std::string& to, std::size_t most) {
  const std::size_t head = std::min(control_.size(), most);
  to.append(control_, 0, head);
  control_.erase(0, head);
  if (!control_.empty()) return;
  for (auto& [id, stream] : streams_) {
    while (!stream.ended && (!stream.upload.empty() || stream.end) && to.size() < most) {
      const std::int64_t room = std::max<std::int64_t>(0, std::min(window_, stream.window));
      const std::size_t bytes =
          std::min({stream.upload.size(), kFrameBytesMax, static_cast<std::size_t>(room)});
      if (bytes == 0 && !stream.upload.empty()) break;
      stream.ended = stream.end && bytes == stream.upload.size();
      to += rpc::frame(NGHTTP2_DATA, stream.ended ? kEndStream : 0, static_cast<std::uint32_t>(id),
                       std::string_view(stream.upload).substr(0, bytes));
      stream.upload.erase(0, bytes);
      window_ -= static_cast<std::int64_t>(bytes);
      stream.window -= static_cast<std::int64_t>(bytes);
    }
  }
}

void Peer::receive(std::string_view bytes) {
  in_.append(bytes);
  std::size_t at = 0;
  while (in_.size() - at >= kHeadBytes) {
    const std::size_t size = number_at(in_, at, 3);
    if (in_.size() - at < kHeadBytes + size) break;
    const auto id = static_cast<int>(number_at(in_, at + 5, 4) & 0x7fff'ffff);
    const std::string_view payload = std::string_view(in_).substr(at + kHeadBytes, size);
    take(static_cast<std::uint8_t>(in_[at + 3]), static_cast<std::uint8_t>(in_[at + 4]), id, payload);
    at += kHeadBytes + size;
  }
  in_.erase(0, at);
}

void Peer::take(std::uint8_t type, std::uint8_t flags, int id, std::string_view payload) {
  if (type == NGHTTP2_DATA) take_data(id, payload);
  if (type == NGHTTP2_WINDOW_UPDATE) take_window(id, payload);
  if (type == NGHTTP2_SETTINGS && (flags & kAck) == 0) take_settings(payload);
  if (type == NGHTTP2_PING && (flags & kAck) == 0) control_ += rpc::frame(NGHTTP2_PING, kAck, 0, payload);
  if (type == NGHTTP2_RST_STREAM) return end(id);
  if ((type == NGHTTP2_DATA || type == NGHTTP2_HEADERS) && (flags & kEndStream) != 0) end(id);
}

void Peer::take_data(int id, std::string_view payload) {
  if (gives_window && !payload.empty()) {
    window(0, static_cast<std::uint32_t>(payload.size()));
    window(id, static_cast<std::uint32_t>(payload.size()));
  }
  Stream* stream = find(id);
  if (keeps_ && stream != nullptr) stream->body.append(payload);
}

void Peer::take_settings(std::string_view payload) {
  for (; payload.size() >= 6; payload.remove_prefix(6)) {
    if (number_at(payload, 0, 2) != NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE) continue;
    const std::int64_t value = number_at(payload, 2, 4);
    for (auto& [id, stream] : streams_) stream.window += value - stream_window_;
    stream_window_ = value;
  }
  control_ += rpc::frame(NGHTTP2_SETTINGS, kAck, 0, "");
}

void Peer::take_window(int id, std::string_view payload) {
  const std::int64_t bytes = number_at(payload, 0, 4);
  if (id == 0) window_ += bytes;
  if (Stream* stream = find(id)) stream->window += bytes;
}

void Peer::end(int id) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  stream->over = true;
  stream->upload.clear();
  if (!keeps_) streams_.erase(id);
}

}  // namespace ingot::fuzz
