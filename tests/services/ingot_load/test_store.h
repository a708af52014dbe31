// A small key-value server of etcd's API in the test's process, with faults that the load generator must detect. Loads
// of ingotd itself are in tests/daemon.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "core/check.h"
#include "proto/etcd/rpc.grpc.pb.h"

namespace ingot::load {

// Faults of every n-th put; 0: never.
struct Faults {
  int lose_every = 0;         // acknowledged, not done
  int corrupt_every = 0;      // done with a value cut short
  int repeat_every = 0;       // done now and again when the next put arrives
  int refuse_every = 0;       // RESOURCE_EXHAUSTED, not done
  int hide_every = 0;         // done, but answered UNAVAILABLE
  int hide_undone_every = 0;  // not done, answered UNAVAILABLE
  bool stale_reads = false;  // reads find no key
  // The stall_at-th request, put or range, and all that arrive before its answer are answered after that time.
  std::uint64_t stall_at = 0;
  std::chrono::milliseconds stall{0};
};

// A port of this machine reserved for this object's lifetime; a server of this process may listen on it.
class ReservedPort {
 public:
  ReservedPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    INGOT_CHECK(::setsockopt(fd_, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) == 0);  // as gRPC's servers do
    INGOT_CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    INGOT_CHECK(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port_ = ntohs(address.sin_port);
  }
  ReservedPort(const ReservedPort&) = delete;
  ~ReservedPort() { ::close(fd_); }
  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
};

class TestStore final : public etcdserverpb::KV::Service {
 public:
  explicit TestStore(Faults faults = Faults{}) : faults_(faults) { start(); }
  ~TestStore() override { stop(); }

  // Stops the server and its connections; the data stays.
  void stop() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  void start_again() { start(); }

  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_.port()); }

  void set_faults(Faults faults) {
    const std::lock_guard lock(mutex_);
    faults_ = faults;
  }
  // Forgets the keys, but not the revision.
  void lose_all() {
    const std::lock_guard lock(mutex_);
    store_.clear();
  }
  std::size_t keys() {
    const std::lock_guard lock(mutex_);
    return store_.size();
  }

 private:
  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(endpoint(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    INGOT_CHECK(server_ != nullptr);
  }

  // REQUIRES: mutex_ is held, so that other requests wait, too.
  void perhaps_stall() {
    if (++requests_ == faults_.stall_at) std::this_thread::sleep_for(faults_.stall);
  }

  static bool hits(std::uint64_t count, int every) { return every > 0 && count % static_cast<unsigned>(every) == 0; }

  void write(const std::string& key, const std::string& value) {
    mvccpb::KeyValue& kv = store_[key];
    kv.set_key(key);
    kv.set_value(value);
    kv.set_mod_revision(++revision_);
  }

  grpc::Status Put(grpc::ServerContext*, const etcdserverpb::PutRequest* request,
                   etcdserverpb::PutResponse* reply) override {
    const std::lock_guard lock(mutex_);
    perhaps_stall();
    ++puts_;
    if (!repeat_.key().empty()) write(repeat_.key(), repeat_.value());
    repeat_.Clear();
    if (hits(puts_, faults_.refuse_every)) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many requests"};
    if (hits(puts_, faults_.hide_undone_every)) return {grpc::StatusCode::UNAVAILABLE, "gone"};
    if (hits(puts_, faults_.lose_every)) {
      ++revision_;
    } else {
      write(request->key(), hits(puts_, faults_.corrupt_every) ? request->value().substr(1) : request->value());
    }
    reply->mutable_header()->set_revision(revision_);
    if (hits(puts_, faults_.repeat_every)) repeat_ = *request;
    if (hits(puts_, faults_.hide_every)) return {grpc::StatusCode::UNAVAILABLE, "gone"};
    return grpc::Status::OK;
  }

  grpc::Status Range(grpc::ServerContext*, const etcdserverpb::RangeRequest* request,
                     etcdserverpb::RangeResponse* reply) override {
    const std::lock_guard lock(mutex_);
    perhaps_stall();
    reply->mutable_header()->set_revision(revision_);
    if (request->range_end().empty()) {
      const auto found = store_.find(request->key());
      if (found != store_.end() && !faults_.stale_reads) *reply->add_kvs() = found->second;
      return grpc::Status::OK;
    }
    for (auto it = store_.lower_bound(request->key()); it != store_.end() && it->first < request->range_end(); ++it) {
      if (request->limit() > 0 && reply->kvs_size() == request->limit()) {
        reply->set_more(true);
        break;
      }
      *reply->add_kvs() = it->second;
    }
    return grpc::Status::OK;
  }

  std::mutex mutex_;  // guards all following members but the server and its port
  Faults faults_;
  std::map<std::string, mvccpb::KeyValue> store_;
  etcdserverpb::PutRequest repeat_;
  std::int64_t revision_ = 1;
  std::uint64_t puts_ = 0;
  std::uint64_t requests_ = 0;
  const ReservedPort port_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ingot::load
