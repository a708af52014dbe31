// One client of a load: at most one outstanding request, with messages whose memory is reused.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingot_load/write_ledger.h"

namespace ingot::load {

struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<etcdserverpb::KV::Stub> stub;
};

// Not thread-safe: its worker's lock guards it. Its address tags its events, so it does not move.
class LoadClient {
 public:
  LoadClient(std::uint16_t number, Connection& connection) : number_(number), connection_(connection) {}

  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  // REQUIRES: nothing is outstanding. The event that ends the put has this client as its tag.
  void start_put(grpc::CompletionQueue& queue, std::chrono::nanoseconds timeout) {
    prepare(timeout);
    put_call_ = connection_.stub->PrepareAsyncPut(&*context_, put, &queue);
    put_call_->StartCall();
    put_call_->Finish(&put_reply, &status, this);
  }
  void start_range(grpc::CompletionQueue& queue, std::chrono::nanoseconds timeout) {
    prepare(timeout);
    range_call_ = connection_.stub->PrepareAsyncRange(&*context_, range, &queue);
    range_call_->StartCall();
    range_call_->Finish(&range_reply, &status, this);
  }
  // Raises an event after the pause, which is a whole number of milliseconds.
  void start_pause(grpc::CompletionQueue& queue, int pause_ms) {
    pausing = true;
    alarm_.Set(&queue, after(std::chrono::milliseconds(pause_ms)), this);
  }

  // Also asks an idle channel to connect.
  bool connected() { return connection_.channel->GetState(true) == GRPC_CHANNEL_READY; }

  // The id of this client's next write; never the same twice.
  WriteId next_write() { return WriteId{number_, ++sequence_}; }

  etcdserverpb::PutRequest put;
  etcdserverpb::PutResponse put_reply;
  etcdserverpb::RangeRequest range;
  etcdserverpb::RangeResponse range_reply;
  grpc::Status status;
  bool reading = false;             // the outstanding request is `range`
  bool pausing = false;             // no request, but a pause, is outstanding
  std::uint32_t key = 0;            // of the request
  WriteId write;                    // of a put
  Revision floor = 0;               // of a range: the lowest revision that it may return
  std::uint64_t intended_ns = 0;    // when the request started, or should have

 private:
  static gpr_timespec after(std::chrono::nanoseconds time) {
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(time.count(), GPR_TIMESPAN));
  }
  // A context serves one call; gRPC cannot reuse it.
  void prepare(std::chrono::nanoseconds timeout) {
    put_call_.reset();
    range_call_.reset();
    context_.emplace();
    context_->set_deadline(after(timeout));
  }

  const std::uint16_t number_;
  Connection& connection_;
  std::uint64_t sequence_ = 0;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::PutResponse>> put_call_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::RangeResponse>> range_call_;
  grpc::Alarm alarm_;
};

}  // namespace ingot::load
