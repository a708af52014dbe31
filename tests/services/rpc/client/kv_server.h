// A server of gRPC C++ whose answers the key of a request decides.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "core/check.h"
#include "proto/etcd/rpc.grpc.pb.h"

namespace ingot::rpc::client {

inline const std::string kPut = "/etcdserverpb.KV/Put";
inline const std::string kRange = "/etcdserverpb.KV/Range";

class KvServer final : public etcdserverpb::KV::Service {
 public:
  // `address` with port 0: any; address() then has it.
  explicit KvServer(const std::string& address = "127.0.0.1:0", int connection_age_ms = 0) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(-1);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::CQ_TIMEOUT_MSEC, 100);  // an end waits for it
    if (connection_age_ms > 0) builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, connection_age_ms);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    INGOT_CHECK(server_ != nullptr);
    const bool any = address.size() > 2 && address.substr(address.size() - 2) == ":0";
    address_ = any ? address.substr(0, address.size() - 1) + std::to_string(port) : address;
  }
  ~KvServer() override {
    stopping_ = true;
    server_->Shutdown(std::chrono::system_clock::now());
  }

  const std::string& address() const { return address_; }
  // Lets calls finish for so long, after a goodbye.
  void shut_down(std::chrono::milliseconds grace) { server_->Shutdown(std::chrono::system_clock::now() + grace); }

  std::atomic<int> puts{0};
  std::atomic<int> waiting{0};    // puts of "wait" that have begun
  std::atomic<int> cancelled{0};  // and have seen their call cancelled
  std::atomic<bool> go_on{false};

 private:
  // "code N": that status; "wait": until go_on, or cancelled; otherwise the revision is the value's size.
  grpc::Status Put(grpc::ServerContext* context, const etcdserverpb::PutRequest* request,
                   etcdserverpb::PutResponse* reply) override {
    ++puts;
    if (request->key().rfind("code ", 0) == 0) {
      return {static_cast<grpc::StatusCode>(std::stoi(request->key().substr(5))), request->value()};
    }
    if (request->key() == "wait") {
      ++waiting;
      while (!go_on && !stopping_ && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (context->IsCancelled()) ++cancelled;
      if (stopping_) return {grpc::StatusCode::UNAVAILABLE, "the server stops"};
    }
    reply->mutable_header()->set_revision(static_cast<std::int64_t>(request->value().size()));
    return grpc::Status::OK;
  }

  // A value of `limit` bytes.
  grpc::Status Range(grpc::ServerContext*, const etcdserverpb::RangeRequest* request,
                     etcdserverpb::RangeResponse* reply) override {
    reply->add_kvs()->set_value(std::string(static_cast<std::size_t>(request->limit()), 'v'));
    return grpc::Status::OK;
  }

  std::atomic<bool> stopping_{false};
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

inline etcdserverpb::PutRequest put_of(const std::string& key, const std::string& value = "") {
  etcdserverpb::PutRequest request;
  request.set_key(key);
  request.set_value(value);
  return request;
}

inline etcdserverpb::RangeRequest range_of(std::int64_t bytes) {
  etcdserverpb::RangeRequest request;
  request.set_limit(bytes);
  return request;
}

inline std::int64_t revision_in(const std::string& message) {
  etcdserverpb::PutResponse reply;
  INGOT_CHECK(reply.ParseFromString(message));
  return reply.header().revision();
}

}  // namespace ingot::rpc::client
