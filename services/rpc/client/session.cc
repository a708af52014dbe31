#include "services/rpc/client/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "services/rpc/client/limits.h"
#include "services/rpc/wire/header_field.h"

namespace ingot::rpc::client {
namespace {

std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

constexpr std::uint8_t kStaticName = NGHTTP2_NV_FLAG_NO_COPY_NAME;
constexpr std::uint8_t kStatic = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;

absl::Status broken(int nghttp2_error) {
  return absl::UnavailableError(absl::StrCat("the server does not speak HTTP/2: ", nghttp2_strerror(nghttp2_error)));
}

}  // namespace

// What nghttp2 calls; the user's pointer is the session.
struct Session::Callbacks {
  static Session& of(void* user) { return *static_cast<Session*>(user); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    OpenCall* call = of(user).find(frame->hd.stream_id);
    if (call != nullptr) call->answer.header(view(name, name_size), view(value, value_size));
    return 0;
  }

  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                     std::size_t size, void* user) {
    OpenCall* call = of(user).find(stream);
    if (call == nullptr || call->answer.data(view(data, size))) return 0;
    of(user).end(*call, call->answer.status());
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    return 0;
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Session& self = of(user);
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) self.ready_ = true;
    if (frame->hd.type == NGHTTP2_GOAWAY) self.going_away_ = true;
    const bool answers = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!answers || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    OpenCall* call = self.find(frame->hd.stream_id);
    if (call == nullptr) return 0;
    call->answer.finish();
    if (call->request_sent == call->request.size()) return 0;  // the stream closes next
    // The answer did not wait for all of its request, the rest of which is not sent.
    self.end(*call, call->answer.status());
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_CANCEL);
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t error_code, void* user) {
    OpenCall* call = of(user).find(stream);
    if (call == nullptr) return 0;
    of(user).end(*call, call->answer.status_at_close(error_code));
    return 0;
  }

  static int on_not_sent(nghttp2_session*, const nghttp2_frame* frame, int error, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    OpenCall* call = of(user).find(frame->hd.stream_id);
    if (call == nullptr) return 0;
    of(user).end(*call, {grpc::StatusCode::UNAVAILABLE,
                         absl::StrCat("the server takes no more calls on this connection: ", nghttp2_strerror(error))});
    return 0;
  }

  static ssize_t read_request(nghttp2_session*, std::int32_t stream, std::uint8_t* buffer, std::size_t size,
                              std::uint32_t* flags, nghttp2_data_source*, void* user) {
    OpenCall* call = of(user).find(stream);
    if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // it was detached; its reset is on the way
    const std::size_t n = std::min(size, call->request.size() - call->request_sent);
    std::copy_n(call->request.data() + call->request_sent, n, buffer);
    call->request_sent += n;
    if (call->request_sent == call->request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }

  static nghttp2_session* make(Session& session) {
    nghttp2_session_callbacks* callbacks = nullptr;
    INGOT_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0, "there is memory for a table");
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_not_sent);
    nghttp2_session* made = nullptr;
    const int error = nghttp2_session_client_new(&made, callbacks, &session);
    nghttp2_session_callbacks_del(callbacks);
    INGOT_CHECK(error == 0, "there is memory for a session");
    return made;
  }
};

Session::Session(const std::string& authority, std::size_t answer_bytes_max)
    : authority_(authority), answer_bytes_max_(answer_bytes_max), session_(Callbacks::make(*this)) {
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes}};
  int error = nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings, std::size(settings));
  INGOT_CHECK(error == 0, "valid settings");
  error = nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
  INGOT_CHECK(error == 0, "a valid window");
}

Session::~Session() = default;

OpenCall* Session::find(std::int32_t stream) {
  if (last_found_ != nullptr && last_found_->stream == stream) return last_found_;
  const auto at = calls_.find(stream);
  last_found_ = at == calls_.end() ? nullptr : at->second;
  return last_found_;
}

void Session::end(OpenCall& call, grpc::Status status) {
  calls_.erase(call.stream);
  last_found_ = nullptr;
  call.status = std::move(status);
  ended_.push_back(&call);
}

bool Session::submit(OpenCall& call) {
  INGOT_CHECK(accepts());
  const std::array<nghttp2_nv, 8> headers = {
      header_field(":method", "POST", kStatic),      header_field(":scheme", "http", kStatic),
      header_field(":path", call.path, kStaticName), header_field(":authority", authority_, kStatic),
      header_field("te", "trailers", kStatic),       header_field("content-type", "application/grpc", kStatic),
      header_field("user-agent", "ingot", kStatic),  header_field("grpc-timeout", call.timeout, kStaticName)};
  const std::size_t count = call.timeout.empty() ? headers.size() - 1 : headers.size();
  nghttp2_data_provider request{};
  request.read_callback = Callbacks::read_request;
  const std::int32_t stream = nghttp2_submit_request(session_.get(), nullptr, headers.data(), count, &request, nullptr);
  if (stream < 0) {
    going_away_ = true;  // its numbers are used up
    return false;
  }
  call.stream = stream;
  call.request_sent = 0;
  call.answer.clear(answer_bytes_max_);
  calls_.emplace(stream, &call);
  ++calls_begun_;
  return true;
}

bool Session::holds(const OpenCall& call) const {
  const auto at = calls_.find(call.stream);
  return at != calls_.end() && at->second == &call;
}

void Session::detach(OpenCall& call) {
  calls_.erase(call.stream);
  last_found_ = nullptr;
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, call.stream, NGHTTP2_CANCEL);
}

std::vector<OpenCall*> Session::detach_all() {
  std::vector<OpenCall*> calls;
  for (const auto& [stream, call] : calls_) calls.push_back(call);
  calls_.clear();
  last_found_ = nullptr;
  return calls;
}

absl::Status Session::receive(std::string_view bytes) {
  const ssize_t taken =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return taken < 0 ? broken(static_cast<int>(taken)) : absl::OkStatus();
}

void Session::take_ended(std::vector<OpenCall*>& ended) {
  ended.clear();
  ended.swap(ended_);
}

absl::Status Session::output(std::string& out) {
  while (out.size() < kOutputBytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size < 0) return broken(static_cast<int>(size));
    if (size == 0) break;
    out.append(view(bytes, static_cast<std::size_t>(size)));
  }
  return absl::OkStatus();
}

bool Session::finished() const {
  return nghttp2_session_want_read(session_.get()) == 0 && nghttp2_session_want_write(session_.get()) == 0;
}

}  // namespace ingot::rpc::client
