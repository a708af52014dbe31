// A call that may wait for long: its one request, its end whoever ends it, and what it uses.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include "replication/client/replica_client.h"
#include "services/etcd/errors.h"
#include "services/etcd/header.h"
#include "services/locks/key_watch.h"
#include "services/locks/leaves.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"
#include "services/watch/hub.h"

namespace ingot::locks {

inline const grpc::Status kServerStopped{grpc::StatusCode::UNAVAILABLE, "etcdserver: server stopped"};

// What the calls of one loop use. It outlives them, but for those that wait for an answer of the client.
struct Environment {
  ReplicaClient& client;
  watch::Hub& hub;
  Leaves& leaves;
  const etcd::HeaderSource& header;
  std::function<void(std::function<void()>)> later;  // calls its argument in a later round of the loop
  bool stopped = false;  // no call begins to wait any more, and none asks for anything behind its end
};

// What a call does while it is open. It is shared by the call's handler and by what it waits for.
class WaitingCall : public std::enable_shared_from_this<WaitingCall> {
 public:
  WaitingCall(Environment& environment, const rpc::Call& call, RequestMetrics& metrics, Method method)
      : environment_(environment), call_(call), timer_(metrics, method) {}
  virtual ~WaitingCall() = default;

  virtual void begin() = 0;
  void writable() {
    if (watch_ != nullptr) watch_->writable();
  }
  // The call's handler ends: the call is over, whoever has ended it.
  void handler_over() {
    watch_.reset();
    if (!std::exchange(over_, true)) gone();
  }

 protected:
  virtual void gone() {}  // the caller has gone before the answer

  bool over() const { return over_ || !call_.open(); }
  void send(const google::protobuf::MessageLite& message) const { call_.send(message); }
  void finish(const grpc::Status& status) {
    if (std::exchange(over_, true)) return;
    timer_.finish(status.error_code());
    call_.finish(status);
  }
  // A watch in the place of the one before. To be called by what begins a round's work, never by the watch itself.
  grpc::Status watch(etcdserverpb::WatchCreateRequest request, KeyWatch::Take take, KeyWatch::Over over) {
    if (environment_.stopped) return kServerStopped;
    watch_ = std::make_unique<KeyWatch>(environment_.hub, call_, std::move(take), std::move(over));
    return watch_->begin(std::move(request));
  }
  // Goes on in a later round, without the watch, unless the call is over by then.
  void leave_watch(std::function<void()> go_on) {
    environment_.later([self = shared_from_this(), go_on = std::move(go_on)] {
      if (self->over()) return;
      self->watch_.reset();
      go_on();
    });
  }

  Environment& environment_;
  const rpc::Call call_;

 private:
  RequestTimer timer_;
  std::unique_ptr<KeyWatch> watch_;
  bool over_ = false;
};

// Reads the one request; Make makes of it what the call does.
template <typename Request>
class WaitingCallHandler final : public rpc::StreamHandler {
 public:
  using Make = std::function<std::shared_ptr<WaitingCall>(const rpc::Call&, Request&&)>;

  WaitingCallHandler(const rpc::Call& call, Make make) : call_(call), make_(std::move(make)) {}
  ~WaitingCallHandler() override {
    if (work_ != nullptr) work_->handler_over();
  }

  void message(std::string_view bytes) override {
    if (std::exchange(has_request_, true)) {
      return call_.finish({grpc::StatusCode::UNIMPLEMENTED, "grpc: a call of this method has one request message"});
    }
    if (!request_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      call_.finish(etcd::malformed_request());
    }
  }
  void half_closed() override {
    if (!has_request_) return call_.finish(etcd::malformed_request());
    work_ = make_(call_, std::move(request_));
    work_->begin();
  }
  void writable() override {
    if (work_ != nullptr) work_->writable();
  }

 private:
  const rpc::Call call_;
  const Make make_;
  Request request_;
  bool has_request_ = false;
  std::shared_ptr<WaitingCall> work_;
};

}  // namespace ingot::locks
