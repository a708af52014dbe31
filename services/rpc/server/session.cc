// HTTP/2's side of a session: nghttp2's callbacks, floods, and draining.
#include "services/rpc/server/session.h"

#include <array>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace ingot::rpc::inline server {

// nghttp2's callbacks. A result other than 0 ends the connection.
struct SessionCallbacks {
  static Session& of(void* user) { return *static_cast<Session*>(user); }
  static Stream* stream(nghttp2_session* h2, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(h2, id));
  }

  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* header, void* user) {
    return of(user).frame_begins(*header);
  }
  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return frame->headers.cat == NGHTTP2_HCAT_REQUEST ? of(user).begin_headers(frame->hd.stream_id) : 0;
  }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_bytes,
                    const std::uint8_t* value, std::size_t value_bytes, std::uint8_t, void* user) {
    return of(user).field(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_bytes},
                          {reinterpret_cast<const char*>(value), value_bytes});
  }
  static int data(nghttp2_session* h2, std::uint8_t flags, std::int32_t id, const std::uint8_t* data, std::size_t bytes,
                  void* user) {
    Session& session = of(user);
    session.frame_left_ -= bytes;
    const bool last = (flags & NGHTTP2_FLAG_END_STREAM) != 0 && session.frame_left_ == 0;
    session.data(stream(h2, id), {reinterpret_cast<const char*>(data), bytes}, last);
    return 0;
  }
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return of(user).frame_received(*frame);
  }
  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    of(user).frame_sent(*frame);
    return 0;
  }
  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    return of(user).stream_closed(id);
  }
  static int send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* header, std::size_t length,
                       nghttp2_data_source* source, void* user) {
    return of(user).send_data(header, length, *static_cast<Stream*>(source->ptr));
  }

  static const nghttp2_session_callbacks* table() {
    static nghttp2_session_callbacks* const table = [] {
      nghttp2_session_callbacks* made = nullptr;
      INGOT_CHECK(nghttp2_session_callbacks_new(&made) == 0, "there is memory at start");
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, begin_frame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(made, header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, frame_received);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, frame_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, stream_closed);
      nghttp2_session_callbacks_set_send_data_callback(made, send_data);
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
      // Its rules refuse what real clients send, such as an authority that is no host. RequestHead has those that hold.
      nghttp2_option_set_no_http_messaging(made, 1);
      // FloodGuard counts resets itself, so that calls that are answered earn more of them.
      nghttp2_option_set_stream_reset_rate_limit(made, ~std::uint64_t{0} >> 1, 1);
      return made;
    }();
    return options;
  }
};

Session::Session(Shared& shared, SessionHost& host)
    : shared_(shared),
      host_(host),
      memory_(kSessionBytesMax, shared),
      guard_(shared.bounds),
      drain_timer_(this, [](void* self) { static_cast<Session*>(self)->last_goaway(); }) {}

std::unique_ptr<Session> Session::create(Shared& shared, SessionHost& host) {
  std::unique_ptr<Session> session(new Session(shared, host));
  if (nghttp2_session_server_new3(&session->h2_, SessionCallbacks::table(), session.get(), SessionCallbacks::options(),
                                  session->memory_.functions()) != 0) {
    return nullptr;
  }
  // Priorities are not used. Saying so spares the tree of streams that RFC 7540's clients may build.
  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<std::uint32_t>(shared.bounds.streams_per_connection)},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kMetadataBytesMax)},
       {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}}};
  if (nghttp2_submit_settings(session->h2_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) != 0 ||
      nghttp2_session_set_local_window_size(session->h2_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes) != 0) {
    return nullptr;
  }
  shared.join(*session);
  host.has_output();
  return session;
}

Session::~Session() {
  while (!streams_.empty()) drop(streams_.front());
  shared_.freed_bytes += memory_.bytes();
  nghttp2_session_del(h2_);
}

bool Session::receive(std::string_view bytes) {
  if (failed_) return false;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(h2_, data, bytes.size());
  host_.has_output();
  if (memory_.refused() && !failed_) {
    end_for_memory();
    return false;
  }
  if (taken >= 0) return true;
  if (!failed_) {
    const bool flood = taken == NGHTTP2_ERR_FLOODED;
    shared_.count(flood ? &ServerCounters::ended_flooding : &ServerCounters::ended_malformed);
    nghttp2_session_terminate_session(h2_, flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
    failed_ = true;
  }
  return false;
}

bool Session::frames(std::string& output) {
  if (memory_.refused() && !failed_) end_for_memory();  // an answer had no room
  const bool well = add_frames(output);
  if (!memory_.refused() || failed_) return well;
  end_for_memory();  // the trailers behind what was just framed had none
  return add_frames(output);
}

bool Session::add_frames(std::string& output) {
  frames_ = &output;
  bool well = true;
  while (output.size() < kWriteBytes) {
    const std::uint8_t* frame = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(h2_, &frame);
    if (bytes <= 0) {
      well = bytes == 0;
      break;
    }
    output.append(reinterpret_cast<const char*>(frame), static_cast<std::size_t>(bytes));
  }
  frames_ = nullptr;
  return well;
}

bool Session::over() const {
  return failed_ || (nghttp2_session_want_read(h2_) == 0 && nghttp2_session_want_write(h2_) == 0);
}

int Session::flooded(const char* why) {
  failed_ = true;
  shared_.count(&ServerCounters::ended_flooding);
  nghttp2_submit_goaway(h2_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h2_), NGHTTP2_ENHANCE_YOUR_CALM,
                        reinterpret_cast<const std::uint8_t*>(why), std::strlen(why));
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

// Of what HTTP/2 needs for the connection there is no more, for it or for all.
void Session::end_for_memory() {
  memory_.lift_bounds();
  flooded(memory_.refused_by_own() ? "too_much_memory" : shared_.refusal(*this, shared_.now_ns).c_str());
}

std::size_t Session::held_bytes() const {
  return received_bytes_ + head_bytes_ + output_bytes_ + host_.unsent_bytes() + memory_.bytes() +
         streams_number_ * sizeof(Stream);
}

int Session::frame_begins(const nghttp2_frame_hd& header) {
  frame_left_ = header.length;
  const char* flood = guard_.frame_begins(header, shared_.now_ns);
  return flood == nullptr ? 0 : flooded(flood);
}

int Session::frame_received(const nghttp2_frame& frame) {
  greeted_ = true;
  const char* flood = nullptr;
  if (frame.hd.type == NGHTTP2_PING) {
    if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) {
      flood = guard_.ping(shared_.now_ns);
    } else if (notice_sent_) {
      last_goaway();
    }
  } else if (frame.hd.type == NGHTTP2_RST_STREAM) {
    flood = guard_.reset(shared_.now_ns);
  } else if (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) {
    Stream* stream = SessionCallbacks::stream(h2_, frame.hd.stream_id);
    if (stream == nullptr) return 0;
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame.hd.type == NGHTTP2_HEADERS) {
      if (frame.headers.cat != NGHTTP2_HCAT_REQUEST && !ends) malformed(frame.hd.stream_id);  // trailers are the end
      if (stream->phase == Stream::Phase::kHead) head_complete(*stream);
    }
    if (ends) remote_end(*stream);
  }
  return flood == nullptr ? 0 : flooded(flood);
}

// nghttp2 resets the stream of a frame that breaks a rule: a reset that the client has caused.
void Session::reset_sent(std::uint32_t code) {
  const bool caused = code != NGHTTP2_NO_ERROR && !shared_.draining && !failed_;
  const char* flood = caused ? guard_.reset(shared_.now_ns) : nullptr;
  if (flood != nullptr) flooded(flood);
}

// A reset that is queued with the answer would overtake it. So it follows once the last frame of the answer has gone.
void Session::frame_sent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_RST_STREAM) reset_sent(frame.rst_stream.error_code);
  if (frame.hd.type == NGHTTP2_HEADERS) framed_bytes_ += frame.hd.length;  // what is refused has nothing else
  const bool of_call = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
  guard_.frame_sent(of_call);
  if (!of_call || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  const Stream* stream = SessionCallbacks::stream(h2_, frame.hd.stream_id);
  if (stream != nullptr && !stream->remote_ended) {
    nghttp2_submit_rst_stream(h2_, NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_NO_ERROR);
  }
}

int Session::begin_headers(std::int32_t id) {
  guard_.call_begins();
  ever_called_ = true;
  called_ns_ = shared_.now_ns;
  if (shared_.draining) {
    return nghttp2_submit_rst_stream(h2_, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
  }
  Stream& stream = *shared_.new_stream().release();
  stream.session = this;
  stream.id = id;
  streams_.push_back(stream);
  ++streams_number_;
  shared_.stream_bytes += sizeof(Stream);
  nghttp2_session_set_stream_user_data(h2_, id, &stream);
  return 0;
}

int Session::field(std::int32_t id, std::string_view name, std::string_view value) {
  const char* flood = guard_.field(name.size() + value.size());
  if (flood != nullptr) return flooded(flood);
  Stream* stream = SessionCallbacks::stream(h2_, id);
  if (stream == nullptr) return 0;
  if (!stream->head.allows(name, value)) return malformed(id);
  if (stream->phase == Stream::Phase::kHead) stream->head.add(name, value);  // trailers of a request say nothing
  return 0;
}

// The result tells nghttp2 to read the rest of a header block, and to report nothing of it.
int Session::malformed(std::int32_t id) {
  nghttp2_submit_rst_stream(h2_, NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR);
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int Session::stream_closed(std::int32_t id) {
  Stream* stream = SessionCallbacks::stream(h2_, id);
  if (stream != nullptr) drop(*stream);
  return 0;
}

void Session::drop(Stream& stream) {
  if (stream.phase == Stream::Phase::kRunning) shared_.count(&ServerCounters::calls_cancelled);
  end_call(stream);
  stream.request.clear();
  stream.reader.reset(stream.message_bytes_max, kKeptCapacityBytes);
  if (stream.json != nullptr) stream.json->clear();
  charge(stream);
  count_head(stream, 0);
  if (stream.finished) finished_output_bytes_ -= stream.output.size();
  output_taken(stream, stream.output.size());
  --streams_number_;
  shared_.stream_bytes -= sizeof(Stream);
  if (stream.streaming) --streaming_number_;
  called_ns_ = shared_.now_ns;
  shared_.keep(std::unique_ptr<Stream>(&stream));
  credit_withheld();
}

// Two steps: the first GOAWAY refuses nothing, so that calls that are on their way are not lost; the second one follows
// when the client has answered, or late.
void Session::drain() {
  if (notice_sent_) return;
  notice_sent_ = true;
  nghttp2_submit_shutdown_notice(h2_);
  nghttp2_submit_ping(h2_, NGHTTP2_FLAG_NONE, nullptr);
  shared_.timers.set(drain_timer_, shared_.now_ns + shared_.bounds.drain_notice_ms * 1'000'000);
  host_.has_output();
}

void Session::last_goaway() {
  if (std::exchange(last_goaway_sent_, true)) return;
  drain_timer_.cancel();
  nghttp2_submit_goaway(h2_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h2_), NGHTTP2_NO_ERROR, nullptr,
                        0);
  host_.has_output();
}

}  // namespace ingot::rpc::server
