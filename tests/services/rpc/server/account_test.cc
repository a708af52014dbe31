// All that is kept for clients is in one account from its birth to its end, whoever ends its stream: the account is
// compared with what the heap has grown by, for all ways to end.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "services/rpc/server/output_bytes.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {
namespace {

constexpr int kStreams = 16;
constexpr std::size_t kPieceBytes = 32 * 1024;
constexpr int kPieces = 16;                     // of a stream
constexpr std::size_t kTinyMessages = 200;      // likewise
constexpr std::size_t kSlackBytes = 1'500'000;  // streams, HTTP/2, the loop's buffers
constexpr std::uint64_t kShortMs = 50;          // a deadline

std::size_t heap_bytes() { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; }

class Sender final : public StreamHandler {
 public:
  explicit Sender(Call call) : call_(call) {}
  void message(std::string_view) override {}
  void half_closed() override {}
  void writable() override {}

 private:
  const Call call_;
};

// A client by hand, which keeps nothing: so the heap holds what the server keeps.
struct Account : Harness {
  Account() {
    const auto made = [this](Call call) {
      calls.push_back(call);
      return std::make_unique<Sender>(call);
    };
    methods.add("/t.T/Bounding", {.stream = made, .bounds_output = true});
    methods.add("/t.T/Stream", {.stream = made});
  }

  void connect_client(std::uint32_t window) {
    socket = connect();
    const std::string setting = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<char>(window >> 24),
                                 static_cast<char>(window >> 16), static_cast<char>(window >> 8),
                                 static_cast<char>(window)};
    write_all(socket, std::string(kClientPreface) + frame(NGHTTP2_SETTINGS, 0, 0, setting));
    rounds();
  }
  void open(const std::string& path, int number) {
    Headers headers = RawClient::grpc_headers(path);
    headers.emplace_back("grpc-timeout", std::to_string(deadline_ms) + "m");
    for (int i = 0; i < number; ++i, next_id += 2) {
      write_all(socket, frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, next_id, header_block(headers)));
      settle();
    }
  }
  // Until the server has read all that the client has sent.
  void settle() {
    do rounds();
    while (server().readable());
  }
  void send_all() {
    for (const Call& call : calls) {
      for (int i = 0; i < kPieces; ++i) call.send_pieces({"head", std::string(kPieceBytes, 'x')});
      for (std::size_t i = 0; i < kTinyMessages; ++i) call.send_pieces({"tiny", "message"});
      rounds(1);
    }
  }
  // Some bytes of each stream.
  void each_stream_says(std::string_view bytes) {
    for (std::uint32_t id = 1; id < next_id; id += 2) write_all(socket, frame(NGHTTP2_DATA, 0, id, bytes));
    settle();
  }

  Descriptor socket;
  std::uint32_t next_id = 1;
  std::uint64_t deadline_ms = 90'000'000;
  std::vector<Call> calls;
};

struct End {
  const char* who;
  std::function<void(Account&)> end;
};

const std::vector<End>& ends() {
  static const std::string too_large = std::string("\0\x7f\xff\xff\xff", 5);
  static const std::vector<End> all = {
      {"the handler, with an error",
       [](Account& a) {
         for (const Call& call : a.calls) call.finish({grpc::StatusCode::UNAVAILABLE, "over"});
       }},
      {"the handler, well",
       [](Account& a) {
         for (const Call& call : a.calls) call.finish(grpc::Status::OK);
       }},
      {"a malformed message", [](Account& a) { a.each_stream_says("\x07malformed"); }},
      {"a message that is too large", [](Account& a) { a.each_stream_says(too_large); }},
      {"the deadline", [](Account& a) { a.pass_ms(kShortMs + 1); }},
      {"the client's resets",
       [](Account& a) {
         for (std::uint32_t id = 1; id < a.next_id; id += 2) {
           write_all(a.socket, frame(NGHTTP2_RST_STREAM, 0, id, std::string("\0\0\0\x8", 4)));
         }
         a.settle();
       }},
      {"the client's end", [](Account& a) { a.socket = Descriptor(); }},
      {"a flood",
       [](Account& a) {
         for (int i = 0; i < 10; ++i) write_all(a.socket, frame(NGHTTP2_PING, 0, 0, "12345678"));
       }},
      {"a violation of HTTP/2", [](Account& a) { write_all(a.socket, frame(NGHTTP2_DATA, 0, 0, "x")); }},
      {"the clock", [](Account& a) { a.pass_ms(kStalledWriteMs + 1); }},
      {"the server, draining", [](Account& a) { a.server().drain(); }},
      {"the server's end", [](Account& a) { a.server().end(); }},
  };
  return all;
}

TEST_CASE("the account of what is kept for clients is the heap's growth, whoever ends a stream") {
  const std::string path = GENERATE("/t.T/Bounding", "/t.T/Stream");
  const std::uint32_t window = GENERATE(0u, 65'535u, 0x7fffffffu);
  const bool stalled = GENERATE(false, true);  // for a while, before the end
  for (const End& end : ends()) {
    INFO(path << ", window " << window << ", stalled " << stalled << ", ended by " << end.who);
    Account account;
    if (end.who == std::string("the deadline")) account.deadline_ms = kShortMs + (stalled ? kStalledEndMs : 0);
    account.connect_client(window);
    account.open(path, kStreams);
    REQUIRE(account.calls.size() == kStreams);
    const std::size_t before = heap_bytes();
    const auto agree = [&](const char* when) {
      INFO(when);
      const std::size_t held = account.server().held_bytes();
      const std::size_t after = heap_bytes();
      const std::size_t grown = after - std::min(before, after);
      CAPTURE(held, grown);
      CHECK(grown <= 2 * held + kSlackBytes);
      CHECK(held <= grown + kSlackBytes);
      return held;
    };
    account.send_all();
    CHECK(agree("sent") >= kStreams * kPieceBytes * 8);
    if (stalled) account.pass_ms(kStalledEndMs - 1);
    end.end(account);
    account.settle();
    agree("ended");
    account.pass_ms(1'000);
    agree("later");
    account.socket = Descriptor();
    account.settle();
    CHECK(agree("gone") == 0);
  }
}

// Regression: the front end grew to 2.7 GiB in 18 s.
TEST_CASE("streams that end with output which their client does not take are bounded like answers") {
  const bool stalled = GENERATE(false, true);
  Account account;
  account.connect_client(0);
  const std::size_t before = heap_bytes();
  std::size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    account.open("/t.T/Bounding", 1);
    account.calls.back().send_pieces({std::string(kOutputBeginBytesMax / 2, 'x')});
    account.rounds();
    if (stalled && i % 10 == 0) account.pass_ms(kStalledEndMs);
    write_all(account.socket, frame(NGHTTP2_DATA, 0, account.next_id - 2, "\x07malformed"));
    account.settle();
    REQUIRE_FALSE(account.calls.back().open());
    most = std::max(most, account.server().held_bytes());
  }
  CHECK(most <= 2 * kOutputBeginBytesMax);
  CHECK(heap_bytes() <= before + 2 * most + kSlackBytes);
}

// Regression: the places of pieces that had left were kept until nothing waited, so for ever if a reader is a bit late.
TEST_CASE("output that never runs empty keeps nothing of what has left") {
  OutputBytes output;
  const std::size_t before = heap_bytes();
  for (int i = 0; i < 100'000; ++i) {
    output.append_piece(std::string(2'000, 'x'));
    if (i >= 10) output.take(2'000);
  }
  CHECK(output.size() == 20'000);
  CHECK(heap_bytes() <= before + 100'000);
}

TEST_CASE("requests that are not complete are in the account, too") {
  Account account;
  account.connect_client(65'535);
  const std::size_t before = heap_bytes();
  const std::string half = framed(std::string(60'000, 'x')).substr(0, 15'000);
  for (int i = 0; i < 200; ++i) {
    account.open("/t.T/Echo", 1);
    write_all(account.socket, frame(NGHTTP2_DATA, 0, account.next_id - 2, half));
    account.settle();
  }
  const std::size_t held = account.server().held_bytes();
  CHECK(held >= 200 * 14'000);
  CHECK(heap_bytes() <= before + 5 * held + kSlackBytes);  // a message has its whole buffer from its begin on
}

}  // namespace
}  // namespace ingot::rpc
