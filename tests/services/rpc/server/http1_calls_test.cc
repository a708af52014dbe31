// Calls with JSON, over HTTP/1.1 and HTTP/2: how they begin, what they are answered, how they end, and their bounds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "proto/etcd/rpc.pb.h"
#include "tests/seeds.h"
#include "tests/services/rpc/server/gateway.h"

namespace ingot::rpc {
namespace {

TEST_CASE("a call with JSON is answered, and the connection stays for the next one") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  for (int i = 0; i < 3; ++i) {
    CHECK(gateway.ask(client, post("/v3/echo?x=y", kFoo)) == json_answer("200 OK", kFoo));
  }
  CHECK(gateway.ask(client, post("/v3/echo", "")) == json_answer("200 OK", "{}"));
  CHECK_FALSE(at_end(client));
  CHECK(gateway.server().held_bytes() == 0);
  CHECK(gateway.server().open_calls() == 0);
}

TEST_CASE("errors have the code of HTTP that etcd's gateway gives them") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  const std::string wrong = R"(etcdserverpb.RangeRequest.key takes base64 in quotes, not a number)";
  CHECK(gateway.ask(client, post("/v3/echo", R"({"key":7})")) ==
        json_answer("400 Bad Request", absl::StrCat(R"({"error":")", wrong, R"(","message":")", wrong, R"(","code":3})")));
  const std::string nobody = "unknown method Nobody for service t.T";
  CHECK(gateway.ask(client, post("/v3/nobody", kFoo)) ==
        json_answer("501 Not Implemented",
                    absl::StrCat(R"({"error":")", nobody, R"(","message":")", nobody, R"(","code":12})")));
  struct Row {
    grpc::StatusCode code;
    std::string status;
  };
  for (const Row& row : {Row{grpc::StatusCode::NOT_FOUND, "404 Not Found"},
                         {grpc::StatusCode::FAILED_PRECONDITION, "400 Bad Request"},
                         {grpc::StatusCode::OUT_OF_RANGE, "400 Bad Request"},
                         {grpc::StatusCode::RESOURCE_EXHAUSTED, "429 Too Many Requests"},
                         {grpc::StatusCode::UNAVAILABLE, "503 Service Unavailable"},
                         {grpc::StatusCode::UNKNOWN, "500 Internal Server Error"}}) {
    CHECK(gateway.ask(client, post("/v3/hold", kFoo)).empty());
    REQUIRE(gateway.held.size() == 1);
    gateway.held[0].finish({row.code, "so \"it\" is"});
    gateway.held.clear();
    gateway.rounds();
    CHECK(read_all(client) ==
          json_answer(row.status, absl::StrCat(R"({"error":"so \"it\" is","message":"so \"it\" is","code":)",
                                               static_cast<int>(row.code), "}")));
  }
  CHECK_FALSE(at_end(client));
}

TEST_CASE("what is no call is refused, and the connection ends") {
  Gateway gateway;
  gateway.http1["/version"] = [](std::string_view) { return Http1Answer{200, R"({"etcdserver":"3.4"})"}; };
  const std::string foo = post("/v3/echo", kFoo);
  struct Row {
    std::string request;
    std::string status;
    std::string body;
  };
  const std::vector<Row> rows = {
      {"GET /v3/echo HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "Method Not Allowed\n"},
      {"HEAD /v3/echo HTTP/1.1\r\n\r\n", "405 Method Not Allowed", ""},
      {"OPTIONS /v3/echo HTTP/1.1\r\n\r\n", "200 OK", ""},
      {"PUT /v3/echo HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "405 Method Not Allowed", "Method Not Allowed\n"},
      {post("/v3/echo/", kFoo), "404 Not Found", "Not Found\n"},
      {post("/v3alpha/echo", kFoo), "404 Not Found", "Not Found\n"},
      {post("/v3/echo", kFoo, "Origin: http://page\r\n"), "403 Forbidden",
       "Web pages may not call: the request has an Origin.\n"},
      {post("/v3/echo", kFoo, "Expect: x\r\n"), "417 Expectation Failed", ""},
      {foo + "GET /version HTTP/1.1\r\n\r\n", "200 OK", R"({"etcdserver":"3.4"})"},
      {"POST /v3/echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "400 Bad Request",
       "This is no HTTP/1.1 request: multiple Content-Length.\n"},
      {"POST /v3/echo HTTP/1.1\r\nA: " + std::string(9'000, 'x') + "\r\n\r\n", "431 Request Header Fields Too Large",
       "The request's head is too long.\n"},
  };
  for (const Row& row : rows) {
    INFO(row.request.substr(0, 100));
    const Descriptor client = gateway.connect();
    const std::string answer = gateway.ask(client, row.request);
    CHECK(answer.find("HTTP/1.1 " + row.status + "\r\n") != std::string::npos);
    CHECK(answer.ends_with("\r\n\r\n" + row.body));
    CHECK(at_end(client));
  }
  gateway.pass_ms(kLingerMs + 1);
  CHECK(gateway.server().connections() == 0);
  CHECK(gateway.server().held_bytes() == 0);
}

TEST_CASE("requests may come in any parts, chunked, and one behind the other") {
  Gateway gateway;
  const std::string chunked =
      "POST /v3/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n{\"key\r\n9\r\n\":\"Zm9v\"}\r\n0\r\nA: b\r\n\r\n";
  const std::string all = chunked + post("/v3/echo", kFoo) + chunked;
  std::string answers;
  for (int i = 0; i < 3; ++i) answers += json_answer("200 OK", kFoo);
  for (std::size_t part = 1; part < all.size(); part += 7) {
    const Descriptor client = gateway.connect();
    std::string got;
    for (std::size_t at = 0; at < all.size(); at += part) got += gateway.ask(client, all.substr(at, part));
    CHECK(got == answers);
  }
  CHECK(gateway.server().held_bytes() == 0);
}

// Regression: Boost.Beast takes it for granted that bytes of another chunk come before the last one's.
TEST_CASE("a chunked request without a chunk but the last may come byte by byte") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  std::string got;
  for (const char each : std::string("POST /v3/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")) {
    got += gateway.ask(client, std::string(1, each));
  }
  CHECK(got == json_answer("200 OK", "{}"));
}

TEST_CASE("a client may ask whether to go on, and may end its connection by a field or by its version") {
  Gateway gateway;
  const Descriptor careful = gateway.connect();
  CHECK(gateway.ask(careful, "POST /v3/echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n") ==
        "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(gateway.ask(careful, "{}") == json_answer("200 OK", "{}"));
  const Descriptor leaving = gateway.connect();
  const std::string answer = gateway.ask(leaving, post("/v3/echo", "{}", "Connection: close\r\n"));
  CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
  CHECK(answer.ends_with("\r\n\r\n{}"));
  CHECK(at_end(leaving));
  const Descriptor old = gateway.connect();
  CHECK(gateway.ask(old, "POST /v3/echo HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}").ends_with("\r\n\r\n{}"));
  CHECK(at_end(old));
}

TEST_CASE("a stream of messages is answered line by line, chunked") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string line = absl::StrCat(R"({"result":)", std::string(kFoo), "}\n");
  const std::string chunk = absl::StrCat(absl::Hex(line.size()), "\r\n", line, "\r\n");
  CHECK(gateway.ask(client, "POST /v3/repeat HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").empty());
  CHECK(gateway.ask(client, absl::StrCat("e\r\n", std::string(kFoo), "\r\n")) == head + chunk);
  CHECK(gateway.ask(client, absl::StrCat("e\r\n", std::string(kFoo), "\r\n")) == chunk);
  CHECK(gateway.ask(client, "0\r\n\r\n").empty());
  REQUIRE(gateway.repeating.size() == 1);
  SECTION("and its end is the answer's") {
    gateway.repeating[0].finish(grpc::Status::OK);
    gateway.rounds();
    CHECK(read_all(client) == "0\r\n\r\n");
    CHECK(gateway.ask(client, post("/v3/echo", kFoo)) == json_answer("200 OK", kFoo));
  }
  SECTION("and an error is the last line") {
    gateway.repeating[0].finish({grpc::StatusCode::UNAVAILABLE, "gone"});
    gateway.rounds();
    const std::string error =
        R"({"error":{"grpc_code":14,"http_code":503,"message":"gone","http_status":"Service Unavailable","code":14}})"
        "\n";
    CHECK(read_all(client) == absl::StrCat(absl::Hex(error.size()), "\r\n", error, "\r\n0\r\n\r\n"));
  }
  SECTION("and the client that leaves ends it") {
    CHECK(gateway.repeating[0].open());
    ::shutdown(client.get(), SHUT_WR);
    gateway.rounds();
    CHECK_FALSE(gateway.repeating[0].open());
  }
  CHECK(gateway.server().open_calls() == 0);
  CHECK(gateway.server().held_bytes() == 0);
}

// The chunks behind the head of an answer; the last one is empty once the answer has ended.
std::vector<std::string> chunks_of(const std::string& answer) {
  std::vector<std::string> chunks;
  std::size_t at = answer.find("\r\n\r\n") + 4;
  while (at < answer.size()) {
    const std::size_t size = std::stoul(answer.substr(at, answer.find("\r\n", at) - at), nullptr, 16);
    chunks.push_back(answer.substr(answer.find("\r\n", at) + 2, size));
    at = answer.find("\r\n", at) + 2 + size + 2;
  }
  CHECK(at == answer.size());
  return chunks;
}

std::string range_of(std::size_t key_bytes) {
  etcdserverpb::RangeRequest range;
  range.set_key(std::string(key_bytes, 'x'));
  return range.SerializeAsString();
}

// Regression: lines were cut where frames of HTTP/2 ended, and two could be in one chunk. etcd3gw for Python takes what
// comes in a chunk for one message, and its watch ended without a word.
TEST_CASE("each line of a stream of answers is a chunk, however long it is") {
  Gateway gateway;
  const bool ended = GENERATE(false, true);  // before the first line leaves
  const Descriptor client = gateway.connect();
  gateway.ask(client, "POST /v3/repeat HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  const Call call = gateway.repeating.at(0);
  for (const std::size_t bytes : {3, 16'384, 300'000, 1, 1}) call.send_bytes(range_of(bytes));
  if (ended) call.finish(grpc::Status::OK);
  std::string answer;
  for (int i = 0; i < 1'000 && answer.size() < 420'000; ++i) {
    gateway.rounds(1);
    answer += read_all(client);
  }
  if (!ended) call.finish(grpc::Status::OK);
  gateway.rounds(8);
  answer += read_all(client);
  CHECK(answer.find("Content-Length") == std::string::npos);
  const std::vector<std::string> chunks = chunks_of(answer);
  REQUIRE(chunks.size() == 6);
  CHECK(chunks.back().empty());
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(chunks[i].starts_with(R"({"result":{"key":")"));
    CHECK(chunks[i].find('\n') == chunks[i].size() - 1);
  }
  CHECK(gateway.ask(client, post("/v3/echo", kFoo)) == json_answer("200 OK", kFoo));
}

TEST_CASE("a stream of answers to a client of HTTP/1.0 has no chunks") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  std::string answer =
      gateway.ask(client, "POST /v3/repeat HTTP/1.0\r\nContent-Length: 14\r\n\r\n" + std::string(kFoo));
  gateway.repeating.at(0).finish(grpc::Status::OK);
  gateway.rounds();
  answer += read_all(client);
  CHECK(answer.find("chunked") == std::string::npos);
  CHECK(answer.ends_with(absl::StrCat("\r\n\r\n{\"result\":", std::string(kFoo), "}\n")));
  CHECK(at_end(client));
}

TEST_CASE("a stream of answers whose rest is dropped is cut off, and no error stands within a line") {
  Gateway gateway;
  const auto* range = etcdserverpb::RangeRequest::descriptor();
  Call call;
  const auto bounding = [&call](Call made) {
    call = made;
    return std::make_unique<Repeats>(made);
  };
  gateway.methods.add("/t.T/Bounding", {.stream = bounding, .bounds_output = true});
  gateway.methods.add_json("/v3/bounding", {"/t.T/Bounding", range, range, false, false});
  const Descriptor client = gateway.connect();
  write_all(client, post("/v3/bounding", kFoo));
  gateway.rounds(2);
  for (int i = 0; i < 200; ++i) call.send_bytes(range_of(100'000));
  gateway.rounds(8);
  gateway.pass_ms(kStalledEndMs);
  call.finish({grpc::StatusCode::UNAVAILABLE, "over"});
  std::string answer;
  for (int i = 0; i < 1'000 && !at_end(client); ++i) {
    answer += read_all(client);
    gateway.rounds(1);
  }
  CHECK(at_end(client));
  CHECK(answer.find("over") == std::string::npos);
  CHECK_FALSE(answer.ends_with("\r\n0\r\n\r\n"));
  gateway.pass_ms(kLingerMs + 1);
  CHECK(gateway.server().held_bytes() == 0);
}

TEST_CASE("an error before the first line of a stream has its code of HTTP") {
  Gateway gateway;
  const std::string answer = gateway.ask(post("/v3/repeat", "{\"key\":7}"));
  CHECK(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  CHECK(chunks_of(answer).at(0).starts_with(R"({"error":{"grpc_code":3,"http_code":400,)"));
}

TEST_CASE("behind a request with a stream of answers nothing may come") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  gateway.ask(client, post("/v3/repeat", kFoo));
  CHECK_FALSE(at_end(client));
  for (std::size_t sent = 0; sent < kHttp1HeldBytesMax; sent += 16'000) gateway.ask(client, std::string(16'000, 'x'));
  CHECK(at_end(client));
  CHECK_FALSE(gateway.repeating.at(0).open());
  gateway.pass_ms(kLingerMs + 1);
  CHECK(gateway.server().held_bytes() == 0);
}

TEST_CASE("a client that sends ahead is not read beyond a bound, and goes on when it is answered") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  CHECK(gateway.ask(client, post("/v3/hold", kFoo)).empty());
  const std::string next = post("/v3/echo", absl::StrCat(R"({"range_end":")", std::string(10'000, 'A'), "\"}"));
  std::string ahead;
  while (ahead.size() < 3 * kHttp1HeldBytesMax) ahead += next;
  std::size_t sent = 0;
  std::string answers;
  const auto send_more = [&] {
    const ssize_t bytes = ::send(client.get(), ahead.data() + sent, ahead.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (bytes > 0) sent += static_cast<std::size_t>(bytes);
    gateway.rounds(8);
    answers += read_all(client);
  };
  for (int i = 0; i < 20; ++i) send_more();
  CHECK(gateway.server().held_bytes() <= kHttp1HeldBytesMax + kLoneTurnBytes);
  CHECK(gateway.held.size() == 1);
  gateway.held[0].finish({grpc::StatusCode::NOT_FOUND, ""});
  for (int i = 0; i < 200 || sent < ahead.size(); ++i) send_more();
  std::size_t answered = 0;
  for (std::size_t at = 0; (at = answers.find("HTTP/1.1 200 OK", at)) != std::string::npos; ++at) ++answered;
  CHECK(answered == ahead.size() / next.size());
  CHECK(gateway.server().held_bytes() == 0);
}

TEST_CASE("a request that does not come to its end ends the connection; one of a stream has all time") {
  Gateway gateway;
  const Descriptor half_head = gateway.connect();
  const Descriptor half_body = gateway.connect();
  const Descriptor stream = gateway.connect();
  const Descriptor idle = gateway.connect();
  gateway.ask(half_head, post("/v3/echo", kFoo) + "POST /v3/echo HT");
  gateway.ask(half_body, "POST /v3/echo HTTP/1.1\r\nContent-Length: 20\r\n\r\n{");
  gateway.ask(stream, "POST /v3/repeat HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n");
  gateway.ask(idle, post("/v3/echo", kFoo));
  gateway.pass_ms(kHttp1RequestTimeoutMs - 1);
  CHECK(gateway.server().connections() == 4);
  gateway.pass_ms(2);
  CHECK(gateway.server().connections() == 2);
  CHECK(at_end(half_head));
  CHECK(at_end(half_body));
  CHECK(gateway.ask(idle, post("/v3/echo", kFoo)) == json_answer("200 OK", kFoo));
  CHECK_FALSE(at_end(stream));
}

TEST_CASE("a request larger than a message may be is refused while it comes") {
  ServerBounds bounds;
  bounds.message_bytes = 10'000;
  Gateway gateway(bounds);
  const Descriptor client = gateway.connect();
  const std::string body = absl::StrCat(R"({"key":")", std::string(40'000, 'A'), "\"}");
  const std::string answer = gateway.ask(client, post("/v3/echo", body));
  CHECK(answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
  CHECK(answer.find("larger than max (more than 10000 bytes)") != std::string::npos);
  gateway.pass_ms(kLingerMs + 1);
  CHECK(gateway.server().held_bytes() == 0);
}

TEST_CASE("an answer larger than the loop makes JSON of at once is refused") {
  ServerBounds bounds;
  bounds.json_response_bytes = 1000;
  Gateway gateway(bounds);
  const std::string body = absl::StrCat(R"({"key":")", std::string(4'000, 'A'), "\"}");
  const std::string answer = gateway.ask(post("/v3/echo", body));
  CHECK(answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
  CHECK(answer.find("ask for less at a time") != std::string::npos);
  CHECK(gateway.server().open_calls() == 0);
}

TEST_CASE("a client that takes nothing of its answers holds no more than one of HTTP/2, and is disconnected") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  gateway.ask(client, post("/v3/repeat", kFoo));
  etcdserverpb::RangeRequest large;
  large.set_key(std::string(4'096, 'x'));
  const std::string message = large.SerializeAsString();
  for (int i = 0; i < 400; ++i) {
    gateway.repeating.at(0).send_bytes(message);
    gateway.rounds(1);
  }
  CHECK(gateway.repeating[0].pending_bytes() > 1'000'000);  // HTTP/2's window is closed
  gateway.pass_ms(kStalledWriteMs + 1);
  gateway.pass_ms(kStalledWriteMs + 1);
  CHECK(gateway.server().connections() == 0);
  CHECK(gateway.server().held_bytes() == 0);
}

TEST_CASE("a long answer arrives whole") {
  Gateway gateway;
  const Descriptor client = gateway.connect();
  gateway.ask(client, post("/v3/hold", kFoo));
  etcdserverpb::RangeRequest large;
  large.set_key(std::string(3'000'000, 'x'));
  gateway.held.at(0).send(large);
  gateway.held[0].finish(grpc::Status::OK);
  std::string answer;
  for (int i = 0; i < 10'000 && answer.size() < 4'000'000; ++i) {
    gateway.rounds(1);
    answer += read_all(client);
  }
  gateway.rounds(8);
  answer += read_all(client);
  std::string text = R"({"key":")";
  for (int i = 0; i < 1'000'000; ++i) text += "eHh4";
  CHECK((answer == json_answer("200 OK", text + "\"}")));
}

TEST_CASE("a server that leaves answers what is open, and ends connections with nothing open") {
  Gateway gateway;
  const Descriptor idle = gateway.connect();
  const Descriptor busy = gateway.connect();
  gateway.ask(idle, post("/v3/echo", kFoo));
  gateway.ask(busy, post("/v3/hold", kFoo));
  gateway.server().drain();
  gateway.rounds();
  CHECK(at_end(idle));
  CHECK_FALSE(at_end(busy));
  gateway.held.at(0).finish({grpc::StatusCode::NOT_FOUND, ""});
  gateway.rounds();
  const std::string answer = read_all(busy);
  CHECK(answer.starts_with("HTTP/1.1 404 Not Found\r\n"));
  CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
  CHECK(at_end(busy));
  CHECK(gateway.server().drained());
}

TEST_CASE("JSON over HTTP/2 is answered as over HTTP/1.1") {
  Gateway gateway;
  auto client = gateway.client();
  const auto json = [&](const std::string& path, const std::string& body) {
    const Headers head = {
        {":method", "POST"}, {":scheme", "http"}, {":path", path}, {"content-type", "application/json"}};
    const auto id = client->call(head, body);
    gateway.run(*client);
    return client->answer(id);
  };
  Answer echoed = json("/v3/echo", std::string(kFoo));
  CHECK(echoed.headers[":status"] == "200");
  CHECK(echoed.body == kFoo);
  CHECK(echoed.ended);
  Answer empty = json("/v3/echo", "");
  CHECK(empty.body == "{}");
  Answer wrong = json("/v3/echo", "{");
  CHECK(wrong.headers[":status"] == "400");
  CHECK(wrong.body.find("the request ends within an object") != std::string::npos);
  const auto grpc = client->call("/t.T/Echo", framed("x"));
  gateway.run(*client);
  CHECK(client->answer(grpc).status() == 0);
}

TEST_CASE("random requests and cuts leave nothing behind") {
  Gateway gateway;
  Prng prng(testing::drawn_seed());
  const std::vector<std::string> pieces = {
      post("/v3/echo", kFoo), post("/v3/hold", kFoo), post("/v3/repeat", kFoo), post("/v3/echo", "{\"key\":"),
      "POST /v3/repeat HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "e\r\n{\"key\":\"Zm9v\"}\r\n", "0\r\n\r\n",
      "GET /health HTTP/1.1\r\n\r\n", "POST /v3/echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", "{}"};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (std::uint64_t left = 1 + prng.below(6); left > 0; --left) text += pieces[prng.below(pieces.size())];
    if (prng.below(3) == 0) text[prng.below(text.size())] = static_cast<char>(prng.below(256));
    const Descriptor client = gateway.connect();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t part = 1 + prng.below(60);
      if (::send(client.get(), text.data() + at, std::min(part, text.size() - at), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
      at += part;
      gateway.rounds(1);
    }
    for (const Call& call : std::exchange(gateway.held, {})) call.finish({grpc::StatusCode::NOT_FOUND, ""});
    if (prng.below(2) == 0) {
      for (const Call& call : gateway.repeating) call.finish(grpc::Status::OK);
    }
    gateway.rounds(2);
  }
  gateway.pass_ms(kHttp1RequestTimeoutMs + 1);
  for (const Call& call : std::exchange(gateway.held, {})) call.finish({grpc::StatusCode::NOT_FOUND, ""});
  gateway.pass_ms(kHttp1RequestTimeoutMs + kLingerMs);
  CHECK(gateway.server().open_calls() == 0);
  CHECK(gateway.server().held_bytes() == 0);
}

}  // namespace
}  // namespace ingot::rpc
