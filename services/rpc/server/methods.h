// What a server serves: handlers by path.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "services/access/caller.h"
#include "services/rpc/server/call.h"

namespace ingot::rpc::inline server {

// A streaming call's handler. It is owned by the call and destroyed when the call is over, for whatever reason: if one
// of its own functions calls Call::finish(), it is destroyed only after that function has returned.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;

  virtual void message(std::string_view bytes) = 0;  // the client's next message; valid during the call
  virtual void half_closed() = 0;                    // the client sends no more
  // pending_bytes() has fallen below kStreamOutputLowBytes, or below what Call::tell_below() has named.
  virtual void writable() = 0;
  // The connection gives no messages (and no window) to a call whose handler answers false, until Call::resume().
  virtual bool wants_more() const { return true; }
};

struct Method {
  enum class Weight : std::uint8_t {
    kSmall,
    // The answer may be large. Such a call begins only while its client takes output; kLargeCallsMax of a loop run at a
    // time, round-robin between connections.
    kLarge,
    // The request does not tell how large the answer is: limits.h, kUnknownBytesMax.
    kUnknown,
  };

  Weight weight = Weight::kSmall;
  // For a unary method with both kinds of requests: asked for each request, before the call begins; null: `weight`.
  std::function<Weight(std::string_view request)> weigh{};

  // One of `unary` and `stream` is set. A unary handler is called once the client has sent all of its request, which is
  // valid during the call. The handler calls finish() once, then or later, even if the call is over by then: only
  // finish() ends the handler's work and frees the call slot.
  std::function<void(Call, std::string_view request)> unary{};
  std::function<std::unique_ptr<StreamHandler>(Call)> stream{};
  // Of a stream: its handlers bound the output that waits for their clients. So that output does not count for the
  // bounds of the loop and of the connection on which the begin of other calls depends: a client with a watch need not
  // read for hours. From the end of a call on its output does count. If the call ends with an error and the output
  // exceeds these bounds, or the client takes nothing for kStalledEndMs, the output is dropped. Then the client sees
  // the error at once, perhaps after a message that is cut off.
  bool bounds_output = false;
};

// A method that can be called with JSON, too: by a POST to a path of its own.
struct JsonMethod {
  std::string path;                                        // as gRPC has it
  const google::protobuf::Descriptor* request = nullptr;   // outlive the server
  const google::protobuf::Descriptor* response = nullptr;
  bool one_request = true;   // else a stream of them
  bool one_response = true;  // likewise
};

// Filled before a server is made, and not changed afterwards: any number of servers, on their threads, may share it if
// the functions allow that.
class Methods {
 public:
  using Fallback = std::function<std::unique_ptr<StreamHandler>(Call, std::string_view path)>;
  using Gate = std::function<grpc::Status(const Caller&, std::string_view path)>;

  // `path` is "/PACKAGE.SERVICE/METHOD". A path is added once (CHECK).
  void add(std::string path, Method method);
  // For all other paths of the form "/SERVICE/METHOD". Without it they end with UNIMPLEMENTED.
  void set_fallback(Fallback fallback) { fallback_ = std::move(fallback); }
  // Asked before a call begins, also for the fallback. Not OK: the call ends with that, and its handler never sees it.
  void set_gate(Gate gate) { gate_ = std::move(gate); }

  // `path` may be anything. A path is added once (CHECK).
  void add_json(std::string path, JsonMethod method);

  // Of the target of a request, whose query says nothing. Null: there is none.
  const JsonMethod* find_json(std::string_view target) const;

  // Names of the services whose methods there are, sorted.
  std::vector<std::string> services() const;

  // Null: no such method.
  const Method* find(std::string_view path) const;
  const Fallback& fallback() const { return fallback_; }
  const Gate& gate() const { return gate_; }

 private:
  absl::flat_hash_map<std::string, Method> methods_;
  absl::flat_hash_map<std::string, JsonMethod> json_;
  Fallback fallback_;
  Gate gate_;
};

}  // namespace ingot::rpc::server
