// One watch of the loop's hub for a call of Lock or Election.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <grpcpp/support/status.h>

#include "proto/etcd/rpc.pb.h"
#include "services/rpc/server/call.h"
#include "services/watch/hub.h"
#include "services/watch/watch.h"

namespace ingot::locks {

// Counts among the watches of the call's connection, and has their bounds. Used by the loop's thread only; the hub
// outlives it.
class KeyWatch final : private watch::WatchOutput {
 public:
  using Take = std::function<void(const etcdserverpb::WatchResponse&)>;
  using Over = std::function<void(const grpc::Status&)>;

  // `take` gets each response, also that the watch has begun, or has ended since its begin was compacted. `over`: there
  // are no more, since the hub has no room for the watch, or ends it. Both are called while the hub works: neither may
  // destroy the watch or make another one.
  // REQUIRES: the call is open.
  KeyWatch(watch::Hub& hub, const rpc::Call& call, Take take, Over over)
      : hub_(hub), call_(call), connection_(call.connection()), take_(std::move(take)), over_(std::move(over)) {}
  ~KeyWatch() { hub_.close(stream_); }
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

  // To be called once. Not OK: the hub has no room for it, and over() is not called.
  grpc::Status begin(etcdserverpb::WatchCreateRequest request);
  // The call's handler was told that its client takes answers again.
  void writable() { hub_.writable(stream_); }

 private:
  // WatchOutput. What is taken of the watch becomes answers of the call.
  void send(std::vector<std::string> pieces) override;
  std::size_t pending_bytes() const override { return call_.pending_bytes(); }
  void tell_below(std::size_t bytes) override { call_.tell_below(bytes); }
  void resume() override {}  // there is no second request
  const void* connection() const override { return connection_; }
  std::string peer() const override { return call_.caller().address; }
  void finish(const grpc::Status& status) override { over_(status); }

  watch::Hub& hub_;
  const rpc::Call call_;
  const void* const connection_;
  const Take take_;
  const Over over_;
  watch::WatchStream stream_{*this};
};

}  // namespace ingot::locks
