// The JSON gateway: JSON as messages and back, and HTTP/1.1 in front of a whole session.
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/check.h"
#include "proto/etcd/rpc.pb.h"
#include "services/rpc/json/reader.h"
#include "services/rpc/json/writer.h"
#include "services/rpc/server/http1_calls.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"
#include "tests/fuzz/rpc_host.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

using Result = rpc::JsonReader::Result;

constexpr std::size_t kMessageBytesMax = 500;

const google::protobuf::Message& type_of(unsigned char choice) {
  static const etcdserverpb::TxnRequest txn;
  static const etcdserverpb::RangeRequest range;
  static const etcdserverpb::WatchRequest watch;
  static const etcdserverpb::MemberAddRequest member;
  static const google::protobuf::Message* const all[] = {&txn, &range, &watch, &member};
  return *all[choice % 4];
}

// Messages of a text that arrives in pieces of `step` bytes; a fault is the last one.
std::vector<std::string> messages_of(const google::protobuf::Message& type, std::string_view text, std::size_t step) {
  std::vector<std::string> messages;
  rpc::JsonReader reader(*type.GetDescriptor(), kMessageBytesMax);
  for (std::size_t at = 0; at < text.size(); at += step) {
    const std::string piece(text.substr(at, step));
    std::string_view left = piece;
    for (Result result; (result = reader.read(left)) != Result::kMore;) {
      if (result != Result::kMessage) {
        messages.emplace_back("fault");
        return messages;
      }
      messages.push_back(reader.message());
    }
    INGOT_CHECK(left.empty(), "a reader that wants more has taken all");
    INGOT_CHECK(reader.kept_bytes() <= kMessageBytesMax, "what is kept has a bound");
  }
  return messages;
}

class Handler final : public rpc::StreamHandler {
 public:
  explicit Handler(rpc::Call call) : call_(call) {}
  void message(std::string_view bytes) override {
    call_.send_bytes(bytes);
    if (++messages_ == 5) call_.finish({grpc::StatusCode::ABORTED, "enough"});
  }
  void half_closed() override { call_.finish(grpc::Status::OK); }
  void writable() override {}
  bool wants_more() const override { return messages_ % 3 != 2; }

 private:
  const rpc::Call call_;
  int messages_ = 0;
};

rpc::Methods make_methods(std::vector<rpc::Call>& held) {
  rpc::Methods methods = methods_with<Handler>(held);
  const auto* txn = etcdserverpb::TxnRequest::descriptor();
  methods.add_json("/v3/echo", {"/t.T/Echo", txn, txn});
  methods.add_json("/v3/hold", {"/t.T/Hold", txn, txn});
  methods.add_json("/v3/passed", {"/o.O/Unary", txn, txn});
  methods.add_json("/v3/stream", {"/o.O/Stream", txn, txn, false, false});
  return methods;
}

}  // namespace

// The first byte says of which type the messages are. Whatever is read is a message, and comes back from its JSON.
void run_json(std::string_view bytes) {
  if (bytes.empty()) return;
  const google::protobuf::Message& type = type_of(static_cast<unsigned char>(bytes.front()));
  bytes.remove_prefix(1);
  const auto whole = messages_of(type, bytes, std::max<std::size_t>(bytes.size(), 1));
  for (const std::size_t step : {1, 3, 7}) INGOT_CHECK(messages_of(type, bytes, step) == whole, "cuts change nothing");
  for (const std::string& wire : whole) {
    if (wire == "fault") break;
    std::string json;
    INGOT_CHECK(rpc::append_json(*type.GetDescriptor(), wire, json), "what is read can be written");
    const std::unique_ptr<google::protobuf::Message> first(type.New());
    const std::unique_ptr<google::protobuf::Message> second(type.New());
    INGOT_CHECK(first->ParseFromString(wire), "what is read is a message");
    rpc::JsonReader reader(*type.GetDescriptor(), 10 * kMessageBytesMax);
    std::string_view text = json;
    INGOT_CHECK(reader.read(text) == Result::kMessage && second->ParseFromString(reader.message()));
    INGOT_CHECK(google::protobuf::util::MessageDifferencer::Equals(*first, *second), "JSON says what the message does");
  }
  std::string json;
  rpc::append_json(*type.GetDescriptor(), bytes, json);  // any bytes
}

std::string sample_json(Prng& rng) {
  static const char* const kTexts[] = {
      R"({"compare":[{"key":"Zm9v","target":"VALUE","value":"YmFy"}],"success":[{"request_put":{"key":"Zm9v"}}]})",
      R"({"key":"Zm9v","range_end":"AA==","limit":"7","sort_order":"DESCEND","unknown":[1.5,null,{"a":true}]})",
      R"({"create_request":{"key":"Zm9v","filters":["NOPUT",1],"prev_kv":true}} {"cancel_request":{"watch_id":-1}})",
      R"({"peerURLs":["http:\/\/a\u00e9","b"],"isLearner":true})"};
  const std::uint64_t choice = rng.below(4);
  return std::string(1, static_cast<char>(choice)) + kTexts[choice];
}

// The first byte says in what pieces the others come.
void run_http1(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t step = static_cast<unsigned char>(bytes.front()) + 1;
  bytes.remove_prefix(1);
  std::vector<rpc::Call> held;
  const rpc::Methods methods = make_methods(held);
  rpc::ServerBounds bounds;
  bounds.message_bytes = kMessageBytesMax;
  bounds.received_bytes_low = 200;
  bounds.received_bytes = 2'000;
  rpc::Shared shared(methods, bounds, nullptr);
  shared.now_ns = 1'000'000'000;
  Host host;
  auto session = rpc::Session::create(shared, host);
  auto calls = rpc::Http1Calls::create(shared, *session, host, [](std::string_view head) { return std::string(head); });
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const bool goes_on = calls->receive(bytes.substr(at, step));
    shared.turns.run(shared.output_bytes, shared.now_ns);
    std::string output;
    if (!calls->output(output) || !goes_on) break;
    session->tell_writable();
    if (at / step % 3 == 0) end_newest(held);
    shared.handlers_over.clear();
    INGOT_CHECK(shared.received_bytes <= bounds.received_bytes + rpc::kHttp1HeldBytesMax, "what is kept has a bound");
  }
  calls.reset();
  session.reset();
  check_nothing_is_left(shared, held);
}

std::string sample_http1(Prng& rng) {
  static const char* const kPaths[] = {"/v3/echo", "/v3/hold", "/v3/passed", "/v3/stream", "/v3/none", "/health"};
  static const char* const kFields[] = {"", "Expect: 100-continue\r\n", "Connection: close\r\n", "grpc-timeout: 3m\r\n",
                                        "Grpc-Metadata-A: b\r\n", "Origin: x\r\n"};
  std::string bytes(1, static_cast<char>(rng.below(256)));
  for (std::uint64_t left = 1 + rng.below(5); left > 0; --left) {
    const std::string body = R"({"success":[{"request_put":{"key":"Zm9v"}}]})";
    bytes += std::string("POST ") + kPaths[rng.below(6)] + " HTTP/1." + (rng.chance(0.9) ? "1" : "0") + "\r\n";
    bytes += kFields[rng.below(6)];
    if (rng.chance(0.5)) {
      bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    } else {
      bytes += "Transfer-Encoding: chunked\r\n\r\n5\r\n" + body.substr(0, 5) + "\r\n27;a=b\r\n" + body.substr(5) +
               "\r\n0\r\n\r\n";
    }
  }
  return bytes;
}

}  // namespace ingot::fuzz
