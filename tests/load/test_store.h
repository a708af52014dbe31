// A small key-value server of etcd's API in the test's own process, that can be told to misbehave: the load generator
// must notice. It is an opponent, not a stand-in for ingotd; that one is loaded in tests/daemon.
#pragma once

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

#include "proto/etcd/rpc.grpc.pb.h"

namespace ingot::load {

// What goes wrong with every n-th put; 0: never.
struct Faults {
  int lose_every = 0;         // acknowledged, not done
  int corrupt_every = 0;      // done with a value cut short
  int repeat_every = 0;       // done now and once more when the next put arrives
  int refuse_every = 0;       // RESOURCE_EXHAUSTED, not done
  int hide_every = 0;         // done, but answered UNAVAILABLE
  int hide_undone_every = 0;  // not done, answered UNAVAILABLE
  bool stale_reads = false;  // reads answer as if no key had been written
};

class TestStore final : public etcdserverpb::KV::Service {
 public:
  explicit TestStore(Faults faults = Faults{}) : faults_(faults) { start(0); }
  ~TestStore() override { stop(); }

  // Ends the server, connections and all; the data stays.
  void stop() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  void start_again() { start(port_); }

  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

  // Every request that arrives in the meantime is answered after that time.
  void stall(std::chrono::milliseconds time) {
    const std::lock_guard lock(mutex_);
    std::this_thread::sleep_for(time);
  }

  void set_faults(Faults faults) {
    const std::lock_guard lock(mutex_);
    faults_ = faults;
  }
  // Forgets keys, not the revision.
  void lose_all() {
    const std::lock_guard lock(mutex_);
    store_.clear();
  }
  std::size_t keys() {
    const std::lock_guard lock(mutex_);
    return store_.size();
  }

 private:
  void start(int port) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
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

  std::mutex mutex_;  // guards what follows but the server and its port
  Faults faults_;
  std::map<std::string, mvccpb::KeyValue> store_;
  etcdserverpb::PutRequest repeat_;
  std::int64_t revision_ = 1;
  std::uint64_t puts_ = 0;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace ingot::load
