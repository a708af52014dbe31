#include "services/rpc/server/http1_calls.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "services/rpc/server/http1.h"
#include "services/rpc/wire/free_memory.h"
#include "services/rpc/wire/header_field.h"

namespace ingot::rpc::inline server {

namespace http = boost::beast::http;

namespace {

constexpr int kExchangesPerOutput = 4;  // between the two sides of HTTP/2; others first

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string head_line(int status) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(status));
  return absl::StrCat("HTTP/1.1 ", status, " ", absl::string_view(reason.data(), reason.size()), "\r\n");
}

}  // namespace

// nghttp2's callbacks, of the client's side.
struct Http1Calls::Callbacks {
  static Http1Calls& of(void* user) { return *static_cast<Http1Calls*>(user); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_bytes,
                    const std::uint8_t* value, std::size_t value_bytes, std::uint8_t, void* user) {
    Http1Calls& self = of(user);
    if (frame->hd.stream_id != self.stream_) return 0;
    const std::string_view text = text_of(value, value_bytes);
    if (text_of(name, name_bytes) == ":status") std::from_chars(text.data(), text.data() + text.size(), self.status_);
    if (text_of(name, name_bytes) == "content-length") self.length_ = text;
    return 0;
  }
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http1Calls& self = of(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.closing_ = true;
    if (frame->hd.stream_id != self.stream_ || !self.in_call()) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) self.answer_begins();
    const bool of_answer = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (of_answer && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) self.answer_ends();
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t bytes,
                  void* user) {
    Http1Calls& self = of(user);
    self.untaken_ += bytes;
    if (id != self.stream_) return 0;
    self.untaken_of_stream_ += bytes;
    self.answer_part(text_of(data, bytes));
    return 0;
  }
  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    of(user).stream_closed(id);
    return 0;
  }

  static const nghttp2_session_callbacks* table() {
    static nghttp2_session_callbacks* const table = [] {
      nghttp2_session_callbacks* made = nullptr;
      INGOT_CHECK(nghttp2_session_callbacks_new(&made) == 0, "there is memory at start");
      nghttp2_session_callbacks_set_on_header_callback(made, header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, frame_received);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, data);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, stream_closed);
      return made;
    }();
    return table;
  }

  static const nghttp2_option* options() {
    static nghttp2_option* const options = [] {
      nghttp2_option* made = nullptr;
      INGOT_CHECK(nghttp2_option_new(&made) == 0, "there is memory at start");
      nghttp2_option_set_no_auto_window_update(made, 1);
      nghttp2_option_set_no_closed_streams(made, 1);
      nghttp2_option_set_no_http_messaging(made, 1);
      return made;
    }();
    return options;
  }
};

Http1Calls::Http1Calls(Shared& shared, Session& session, SessionHost& host, Others others)
    : shared_(shared), session_(session), host_(host), others_(std::move(others)) {}

std::unique_ptr<Http1Calls> Http1Calls::create(Shared& shared, Session& session, SessionHost& host, Others others) {
  std::unique_ptr<Http1Calls> made(new Http1Calls(shared, session, host, std::move(others)));
  if (nghttp2_session_client_new2(&made->client_, Callbacks::table(), made.get(), Callbacks::options()) != 0) {
    return nullptr;
  }
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWriteBytes}}};
  if (nghttp2_submit_settings(made->client_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) != 0 ||
      nghttp2_session_set_local_window_size(made->client_, NGHTTP2_FLAG_NONE, 0, kWriteBytes) != 0) {
    return nullptr;
  }
  return made;
}

Http1Calls::~Http1Calls() {
  shared_.received_bytes -= charged_;
  nghttp2_session_del(client_);
}

bool Http1Calls::awaits_rest() const {
  if (ended_ || answered_) return false;
  if (!in_call()) return !input_.empty();
  return one_request_ && request_.has_value() && !request_->is_done();
}

// What is held counts with all that the loop has received. A request that has begun goes on in any case.
void Http1Calls::charge() {
  const std::size_t before = std::exchange(charged_, held_bytes());
  shared_.received_bytes += charged_ - before;
}

// ---- Requests -------------------------------------------------------------------------------------------------------

bool Http1Calls::receive(std::string_view bytes) {
  if (ended_) return false;
  input_.append(bytes);
  read_requests();
  const bool too_much = full() && in_call() && !one_request_ && request_->is_done();  // what should come behind it?
  if (too_much || !send_frames()) ended_ = true;
  charge();
  const bool loop_full = shared_.received_bytes > shared_.bounds.received_bytes_all;
  if (loop_full && held_bytes() > kHttp1RequestBytesMax) ended_ = true;
  host_.has_output();
  return !ended_;
}

// Until a request has begun that is not answered.
void Http1Calls::read_requests() {
  while (!ended_ && !input_.empty() && !answered_) {
    if (in_call()) {
      if (!request_->is_done()) pass_body();
      return;
    }
    const std::size_t end = input_.find("\r\n\r\n");
    if (end == std::string::npos && input_.size() <= kHttp1RequestBytesMax) return;
    if (end == std::string::npos || end + 4 > kHttp1RequestBytesMax) {
      return refuse(431, "The request's head is too long.\n");
    }
    request_begins(input_.substr(0, end + 4));
  }
}

void Http1Calls::request_begins(std::string head) {
  request_.emplace();
  input_.erase(0, head.size());
  std::string alone = head;
  if (const std::string wrong = request_->read(alone); !wrong.empty() || !request_->is_header_done()) {
    return refuse(400, absl::StrCat("This is no HTTP/1.1 request: ", wrong, ".\n"));
  }
  if (request_->badly_framed()) return refuse(400, "The request's Transfer-Encoding is not \"chunked\" alone.\n");
  closing_ = closing_ || !request_->keep_alive();
  const std::string& target = request_->target();
  const JsonMethod* method = shared_.methods.find_json(target);
  if (method == nullptr) {
    if (target.starts_with("/v3")) return refuse(404, "Not Found\n");
    answer_ += others_(head);
    ended_ = true;
    return;
  }
  if (request_->from_page()) return refuse(403, "Web pages may not call: the request has an Origin.\n");
  if (request_->method() == http::verb::options) return refuse(200, "");
  if (request_->method() != http::verb::post) return refuse(405, "Method Not Allowed\n");
  if (request_->expects_other()) return refuse(417, "");
  one_request_ = method->one_request;
  submit();
  const bool expects = request_->expects() && !request_->is_done() && input_.empty();
  if (in_call() && expects) answer_ += "HTTP/1.1 100 Continue\r\n\r\n";
}

void Http1Calls::submit() {
  std::vector<nghttp2_nv> fields = {header_field(":method", "POST"), header_field(":scheme", "http"),
                                    header_field(":path", request_->target()),
                                    header_field(":authority", "localhost")};
  for (const auto& [name, value] : request_->fields()) fields.push_back(header_field(name, value));
  nghttp2_data_provider provider;
  provider.source.ptr = this;
  provider.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t length,
                              std::uint32_t* flags, nghttp2_data_source* source, void*) {
    return static_cast<Http1Calls*>(source->ptr)->read_body(buffer, length, *flags);
  };
  body_ = request_->take_body();
  body_sent_ = 0;
  status_ = 0;
  length_.clear();
  stream_ = nghttp2_submit_request(client_, nullptr, fields.data(), fields.size(), &provider, nullptr);
  if (stream_ < 0) refuse(503, "");
}

void Http1Calls::pass_body() {
  const std::string wrong = request_->read(input_);
  if (!wrong.empty() || (!request_->is_done() && input_.size() > kHttp1RequestBytesMax)) {
    ended_ = true;  // what the handler has of it is no whole request
    return;
  }
  if (body_sent_ == body_.size()) {
    body_ = request_->take_body();
    body_sent_ = 0;
  } else {
    body_ += request_->take_body();
  }
  nghttp2_session_resume_data(client_, stream_);
}

ssize_t Http1Calls::read_body(std::uint8_t* buffer, std::size_t length, std::uint32_t& flags) {
  const std::size_t bytes = std::min(length, body_.size() - body_sent_);
  std::memcpy(buffer, body_.data() + body_sent_, bytes);
  body_sent_ += bytes;
  if (body_sent_ == body_.size()) {
    free_memory(body_);
    body_sent_ = 0;
    if (request_->is_done()) {
      flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (bytes == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
  }
  return static_cast<ssize_t>(bytes);
}

// False: the session has ended.
bool Http1Calls::send_frames() {
  for (;;) {
    const std::uint8_t* frame = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(client_, &frame);
    if (bytes <= 0) return bytes == 0;
    if (!session_.receive(text_of(frame, static_cast<std::size_t>(bytes)))) return false;
  }
}

// ---- Answers --------------------------------------------------------------------------------------------------------

// Answers without a call. What follows the request is not read any more.
void Http1Calls::refuse(int status, std::string_view body) {
  shared_.count(&ServerCounters::calls_refused);
  const bool head_only = request_.has_value() && request_->method() == http::verb::head;
  answer_ += last_http1_answer(status, "text/plain; charset=utf-8", std::string(body), head_only);
  ended_ = true;
}

void Http1Calls::answer_begins() {
  const bool old = request_->version() < 11;
  chunked_ = length_.empty() && !old;
  closing_ = closing_ || (length_.empty() && old) || (one_request_ && !request_->is_done());
  absl::StrAppend(&answer_, head_line(status_), "Content-Type: application/json\r\n");
  if (!length_.empty()) absl::StrAppend(&answer_, "Content-Length: ", length_, "\r\n");
  if (chunked_) answer_ += "Transfer-Encoding: chunked\r\n";
  if (closing_) {
    answer_ += "Connection: close\r\n";
  } else if (old) {
    answer_ += "Connection: keep-alive\r\n";
  }
  answer_ += "\r\n";
}

void Http1Calls::answer_part(std::string_view bytes) {
  if (!chunked_) {
    answer_ += bytes;
  } else if (!bytes.empty()) {
    absl::StrAppend(&answer_, absl::Hex(bytes.size()), "\r\n", absl::string_view(bytes.data(), bytes.size()), "\r\n");
  }
}

void Http1Calls::answer_ends() {
  if (chunked_) answer_ += "0\r\n\r\n";
  answered_ = true;
}

// Without its end the answer is cut off, and the connection too.
void Http1Calls::stream_closed(std::int32_t id) {
  if (id != stream_ || answered_) return;
  if (status_ == 0) refuse(503, "The server takes no more calls; nothing was done.\n");
  ended_ = true;
}

void Http1Calls::next_request() {
  if (closing_ || !request_->is_done()) {
    ended_ = true;
    return;
  }
  answered_ = false;
  untaken_of_stream_ = 0;
  stream_ = -1;
  request_.reset();
  free_memory(body_);
  body_sent_ = 0;
  read_requests();
}

void Http1Calls::open_window() {
  if (const std::size_t bytes = std::exchange(untaken_, 0); bytes > 0) {
    nghttp2_session_consume_connection(client_, bytes);
  }
  if (const std::size_t bytes = std::exchange(untaken_of_stream_, 0); bytes > 0 && !answered_) {
    nghttp2_session_consume_stream(client_, stream_, bytes);
  }
}

bool Http1Calls::output(std::string& bytes) {
  open_window();
  for (int i = 0; i < kExchangesPerOutput && !ended_ && answer_.size() < kWriteBytes; ++i) {
    if (!send_frames()) ended_ = true;
    std::string frames;
    const bool well = session_.frames(frames);
    const auto* data = reinterpret_cast<const std::uint8_t*>(frames.data());
    if (nghttp2_session_mem_recv(client_, data, frames.size()) < 0 || !well) ended_ = true;
    if (answered_) next_request();
    if (frames.empty()) break;
    host_.has_output();
  }
  if (closing_ && !in_call()) ended_ = true;
  bytes += answer_;
  answer_.clear();
  if (answer_.capacity() > kKeptCapacityBytes) free_memory(answer_);
  charge();
  return !ended_;
}

}  // namespace ingot::rpc::server
