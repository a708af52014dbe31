// gRPC's framing, and a whole HTTP/2 session with its calls, fed with bytes of a client.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"
#include "services/rpc/wire/framing.h"
#include "tests/fuzz/rpc_host.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

using rpc::MessageReader;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kMessageBytesMax = 500;

// Messages of a stream that arrives in pieces of `step` bytes; a fault is the last one.
std::vector<std::string> messages_of(std::string_view bytes, std::size_t step) {
  std::vector<std::string> messages;
  MessageReader reader(kMessageBytesMax);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::string piece(bytes.substr(at, step));
    std::string_view left = piece;
    for (;;) {
      const MessageReader::Result result = reader.read(left);
      if (result == MessageReader::Result::kMore) break;
      if (result != MessageReader::Result::kMessage) {
        messages.push_back(result == MessageReader::Result::kTooLarge ? "too large" : "malformed");
        return messages;
      }
      messages.emplace_back(reader.message());
    }
    INGOT_CHECK(left.empty(), "a reader that wants more has taken all");
    INGOT_CHECK(reader.kept_bytes() <= kMessageBytesMax);
  }
  return messages;
}

std::string framed(std::string_view message) {
  const rpc::Prefix prefix = rpc::message_prefix(message.size());
  return std::string(prefix.begin(), prefix.end()).append(message);
}

std::string frame(int type, int flags, int stream, std::string_view payload) {
  const auto byte = [](std::size_t value) { return static_cast<char>(value & 0xff); };
  std::string bytes = {
      0, byte(payload.size() >> 8), byte(payload.size()), static_cast<char>(type), static_cast<char>(flags), 0, 0,
      0, static_cast<char>(stream)};
  return bytes.append(payload);
}

std::string field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}

// Answers some messages, wants more or not, and ends by what it is told.
class Handler final : public rpc::StreamHandler {
 public:
  explicit Handler(rpc::Call call) : call_(call) {}
  void message(std::string_view bytes) override {
    wants_ = bytes.empty() || bytes.front() != 'w';
    if (!bytes.empty() && bytes.front() == 'e') return call_.finish(grpc::Status::OK);
    call_.send_bytes(bytes);
  }
  void half_closed() override { call_.finish({grpc::StatusCode::ABORTED, "done"}); }
  void writable() override { call_.send_bytes("more"); }
  bool wants_more() const override { return wants_; }

 private:
  const rpc::Call call_;
  bool wants_ = true;
};

}  // namespace

void run_framing(std::string_view bytes) {
  const auto whole = messages_of(bytes, std::max<std::size_t>(bytes.size(), 1));
  for (const std::size_t step : {1, 3, 7}) INGOT_CHECK(messages_of(bytes, step) == whole, "cuts change nothing");
}

std::string sample_framing(Prng& rng) {
  std::string bytes;
  for (std::uint64_t left = rng.below(5); left > 0; --left) bytes += framed(std::string(rng.below(50), 'x'));
  return bytes;
}

// The first byte says in what pieces the others come.
void run_http2(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t step = static_cast<unsigned char>(bytes.front()) + 1;
  const std::string input = std::string(kPreface).append(bytes.substr(1));
  std::vector<rpc::Call> held;
  const rpc::Methods methods = methods_with<Handler>(held);
  rpc::ServerBounds bounds;
  bounds.message_bytes = kMessageBytesMax;
  bounds.calls_taken_on = 3;
  bounds.large_calls = 1;
  bounds.received_bytes_low = 200;
  bounds.received_bytes = 2'000;
  rpc::Shared shared(methods, bounds, nullptr);
  shared.now_ns = 1'000'000'000;
  Host host;
  auto session = rpc::Session::create(shared, host);
  for (std::size_t at = 0; at < input.size(); at += step) {
    const std::string piece = input.substr(at, step);
    const bool goes_on = session->receive(piece);
    shared.turns.run(shared.output_bytes, shared.now_ns);
    std::string output;
    if (!session->frames(output) || !goes_on) break;
    session->tell_writable();
    if (at / step % 3 == 0) end_newest(held);
    shared.now_ns += 1'000'000;
    shared.timers.run(shared.now_ns, rpc::kTimersPerRound);
    shared.handlers_over.clear();
    INGOT_CHECK(shared.received_bytes <= bounds.received_bytes, "what is kept has a bound");
  }
  session.reset();
  check_nothing_is_left(shared, held);
}

std::string sample_http2(Prng& rng) {
  static const char* const kPaths[] = {"/t.T/Echo", "/t.T/Hold", "/o.O/Stream", "bad"};
  std::string bytes(1, static_cast<char>(rng.below(256)));
  bytes += frame(4, 0, 0, "");
  for (int stream = 1; stream < 20; stream += 2) {
    std::string block = field(":method", "POST") + field(":scheme", "http") + field(":path", kPaths[rng.below(4)]) +
                        field("content-type", "application/grpc") + field("te", "trailers");
    if (rng.chance(0.2)) block += field("grpc-timeout", "3m");
    if (rng.chance(0.1)) block += field("grpc-encoding", "gzip");
    bytes += frame(1, 4, stream, block);
    const std::string body = framed(std::string(rng.below(300), "xwe"[rng.below(3)]));
    const std::size_t cut = rng.below(body.size());
    bytes += frame(0, 0, stream, body.substr(0, cut)) + frame(0, rng.chance(0.8) ? 1 : 0, stream, body.substr(cut));
    if (rng.chance(0.1)) bytes += frame(3, 0, stream, std::string("\0\0\0\x8", 4));
    if (rng.chance(0.1)) bytes += frame(6, 0, 0, "12345678");
    if (rng.chance(0.1)) bytes += frame(8, 0, 0, std::string("\0\0\0\x8", 4));
  }
  return bytes;
}

}  // namespace ingot::fuzz
