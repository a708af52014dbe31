// HTTP/2 and gRPC on one connection: bytes in, calls of handlers, bytes out. It knows no socket.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>
#include <nghttp2/nghttp2.h>

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/access/caller.h"
#include "services/rpc/server/flood_guard.h"
#include "services/rpc/server/session_memory.h"
#include "services/rpc/server/shared.h"
#include "services/rpc/server/stream.h"
#include "services/rpc/server/timers.h"
#include "services/rpc/server/turns.h"

namespace ingot::rpc::inline server {

// The connection that a session belongs to.
class SessionHost {
 public:
  virtual void has_output() = 0;  // flush is wanted at the end of the round
  virtual void read_on() = 0;     // reading was held back, since calls waited
  virtual const Caller& caller() const = 0;
  virtual std::size_t unsent_bytes() const = 0;  // frames that the peer has not taken

 protected:
  ~SessionHost() = default;
};

// Not thread-safe. nghttp2 calls handlers from within receive(), never from within frames().
class Session final : private Line, private Holder {
 public:
  // Null: no memory.
  static std::unique_ptr<Session> create(Shared& shared, SessionHost& host);
  ~Session();

  // False: the connection ends, once what frames() still gives has been sent.
  bool receive(std::string_view bytes);

  // Appends frames that may be sent, up to some kWriteBytes. False as above.
  bool frames(std::string& output);
  // Tells handlers whose output has become low. After frames(), once the socket has taken them.
  void tell_writable();

  void drain();
  // No call of the client's that comes from now on is begun.
  void last_goaway();

  // Whether calls wait here for others to end: then it is not read. What waits for this connection's own calls or for
  // its peer is no reason.
  bool hold_reading() const { return shared_.turns.wait_for_place(*this); }
  // Nothing is to be read or sent any more.
  bool over() const;
  std::size_t streams() const { return streams_number_; }
  // That HTTP/2 takes: streams, header tables, queued frames.
  std::size_t memory_bytes() const { return memory_.bytes(); }
  // Of answers that are complete, and which the peer does not take.
  std::size_t output_bytes() const { return output_bytes_; }
  std::size_t finished_output_bytes() const { return finished_output_bytes_; }
  std::size_t framed_bytes() const { return framed_bytes_; }  // of answers, with their header blocks, ever
  // More output waits than a connection may have: it ends at once.
  bool overflowed() const { return overflowed_; }
  bool ever_called() const { return ever_called_; }
  std::uint64_t called_ns() const { return called_ns_; }  // when a call last came, or was over
  // Whether a whole frame of the client's has come.
  bool greeted() const { return greeted_; }
  void bytes_sent(std::size_t bytes) { guard_.bytes_sent(bytes); }

  // For Call.
  SessionHost& host() { return host_; }
  void send(Stream& stream, std::string_view message);
  void send(Stream& stream, const google::protobuf::MessageLite& message);
  void send(Stream& stream, std::vector<std::string>&& pieces);
  void begin_response(Stream& stream);
  void finish(Stream& stream, const grpc::Status& status);
  void resume(Stream& stream);
  void tell_below(Stream& stream, std::size_t bytes);
  void overdue(Stream& stream);

 private:
  friend struct SessionCallbacks;
  using Streams = boost::intrusive::list<
      Stream,
      boost::intrusive::member_hook<
          Stream, boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
          &Stream::in_session>,
      boost::intrusive::constant_time_size<false>>;

  Session(Shared& shared, SessionHost& host);

  // Line. After a flood, too, calls are there that wait, and nothing of them will be sent. While the loop holds too
  // much, no call begins here until this connection's answers have left.
  bool reader_reads() const override {
    const bool too_much = shared_.counted_output_bytes() > shared_.bounds.output_bytes_all;
    return !failed_ && counted_bytes_ <= (too_much ? 0 : shared_.bounds.output_begin_bytes);
  }
  void begin(Stream& stream) override;
  void nothing_small_waits() override { host_.read_on(); }

  // Holder
  std::size_t held_bytes() const override;
  const Caller& holder() const override { return host_.caller(); }
  std::size_t received_bytes() const override { return received_bytes_; }
  void drop_received() override;

  // session.cc: frames
  int frame_begins(const nghttp2_frame_hd& header);
  int frame_received(const nghttp2_frame& frame);
  void reset_sent(std::uint32_t code);
  void frame_sent(const nghttp2_frame& frame);
  int flooded(const char* why);
  void end_for_memory();
  int begin_headers(std::int32_t id);
  int field(std::int32_t id, std::string_view name, std::string_view value);
  int malformed(std::int32_t id);
  int stream_closed(std::int32_t id);
  void drop(Stream& stream);
  bool add_frames(std::string& output);

  // session_calls.cc: calls
  void head_complete(Stream& stream);
  void count_head(Stream& stream, std::size_t bytes);
  grpc::Status find_method(Stream& stream) const;
  void begin_stream(Stream& stream);
  grpc::Status room_for_head() const;
  grpc::Status room_for_stream(const Stream& stream) const;
  void request_complete(Stream& stream, std::string_view message);
  void run_unary(Stream& stream, std::string_view message);
  void remote_end(Stream& stream);
  void end_messages(Stream& stream);
  void second_message(Stream& stream);
  static constexpr const char* kTwoMessages = "grpc: a call of this method has one request message; nothing was done";
  void refuse(Stream& stream, const grpc::Status& status, const char* http_status = "200");
  void fail(Stream& stream, const grpc::Status& status);
  void end_call(Stream& stream);

  // session_input.cc: messages
  void data(Stream* stream, std::string_view bytes, bool last);
  void receive_unary(Stream& stream, std::string_view bytes, bool last);
  void pass_on(Stream& stream, std::string_view bytes);
  void deliver(Stream& stream, std::string_view bytes);
  bool inflate(Stream& stream, std::string_view& message, std::string& inflated);
  static grpc::Status reader_fault(const Stream& stream, MessageReader::Result result);
  bool charge(Stream& stream);
  static constexpr const char* kTooManyRequests = "too many large requests at a time; nothing was done";
  void refuse_received(Stream& stream, const char* why);
  void credit(Stream& stream);
  void credit_withheld();

  // session_json.cc: calls with JSON
  void find_json(Stream& stream) const;
  bool read_json(Stream& stream, std::string_view text, std::string& messages);
  static bool holds_json(const Stream& stream);
  bool json_ends(Stream& stream);
  void send_json(Stream& stream, std::string_view message);
  void answer_json(Stream& stream, const grpc::Status& status, const char* http_status);
  void begin_json_response(Stream& stream, const nghttp2_data_provider& provider);

  // session_output.cc: answers
  void sent(Stream& stream, std::size_t bytes);
  void output_added(Stream& stream, std::size_t bytes);
  void count_output(const Stream& stream, std::size_t added, std::size_t taken);
  void output_taken(Stream& stream, std::size_t bytes);
  void take_over_output(Stream& stream);
  grpc::Status no_room_for_answer(const Stream& stream) const;
  void answer(Stream& stream, const grpc::Status& status, const char* http_status);
  void trailers_only(Stream& stream, const char* http_status);
  void submit_trailers(Stream& stream);
  ssize_t read_output(Stream& stream, std::size_t length, std::uint32_t& flags);
  int send_data(const std::uint8_t* header, std::size_t length, Stream& stream);

  Shared& shared_;
  SessionHost& host_;
  SessionMemory memory_;
  nghttp2_session* h2_ = nullptr;
  FloodGuard guard_;
  Streams streams_;  // in the order in which they were opened
  std::size_t streams_number_ = 0;
  std::size_t streaming_number_ = 0;       // of those, with streams of messages
  std::size_t received_bytes_ = 0;         // not yet given to handlers
  std::size_t head_bytes_ = 0;             // of open calls
  std::size_t output_bytes_ = 0;           // of all streams, unframed
  std::size_t counted_bytes_ = 0;          // of those whose handlers do not bound it (Method::bounds_output)
  std::size_t finished_output_bytes_ = 0;  // of those whose answer is complete
  std::size_t framed_bytes_ = 0;           // of all streams, with their header blocks, ever
  std::size_t frame_left_ = 0;             // of a DATA frame that is being received, with padding
  std::string* frames_ = nullptr;          // during frames()
  std::vector<Call> low_;                  // whose handlers are to be told of low output
  bool withheld_ = false;                  // some streams wait for window
  bool overflowed_ = false;                // more output than a connection may have
  bool failed_ = false;
  std::uint64_t called_ns_ = 0;
  bool ever_called_ = false;
  bool greeted_ = false;
  bool notice_sent_ = false;
  bool last_goaway_sent_ = false;
  Timer drain_timer_;
};

}  // namespace ingot::rpc::server
