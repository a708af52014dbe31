// A server with methods that are called with JSON, too, and the bytes of HTTP/1.1 that its clients send and expect.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.pb.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot::rpc {

inline constexpr std::string_view kFoo = R"({"key":"Zm9v"})";

inline std::string post(std::string_view path, std::string_view body, std::string_view fields = "") {
  return absl::StrCat("POST ", std::string(path), " HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(), "\r\n",
                      std::string(fields), "\r\n", std::string(body));
}

// Answers each message with itself, until the client has ended its own.
class Repeats final : public StreamHandler {
 public:
  explicit Repeats(Call call) : call_(call) {}
  void message(std::string_view bytes) override { call_.send_bytes(bytes); }
  void half_closed() override {}
  void writable() override {}

 private:
  Call call_;
};

struct Gateway : Harness {
  explicit Gateway(ServerBounds bounds = {}) : Harness(bounds) {
    const auto* range = etcdserverpb::RangeRequest::descriptor();
    methods.add("/t.T/Repeat", {.stream = [this](Call call) {
                  repeating.push_back(call);
                  return std::make_unique<Repeats>(call);
                }});
    methods.add_json("/v3/echo", {"/t.T/Echo", range, range});
    methods.add_json("/v3/hold", {"/t.T/Hold", range, range});
    methods.add_json("/v3/nobody", {"/t.T/Nobody", range, range});
    methods.add_json("/v3/repeat", {"/t.T/Repeat", range, range, false, false});
  }

  // What the server says to these bytes, and whether it ends the connection then.
  std::string ask(const Descriptor& client, const std::string& request) {
    write_all(client, request);
    rounds(8);
    return read_all(client);
  }
  std::string ask(const std::string& request) { return ask(connect(), request); }

  std::vector<Call> repeating;
};

inline std::string json_answer(std::string_view status, std::string_view body) {
  return absl::StrCat("HTTP/1.1 ", std::string(status), "\r\nContent-Type: application/json\r\nContent-Length: ",
                      body.size(), "\r\n\r\n", std::string(body));
}

}  // namespace ingot::rpc
