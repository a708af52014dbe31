// An ordinary client of etcd's API, by gRPC C++, that goes on beside a schedule.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "proto/etcd/rpc.grpc.pb.h"

namespace ingot::fuzz {

// In each round it puts a value, reads it, creates a watch, and hears of the value by a watch that it has. It ends the
// process with a sentence if an answer is an error or is wrong; one that does not come is for a watchdog of the test.
//
// Has a thread of its own. Thread-safe.
class OrdinaryClient {
 public:
  explicit OrdinaryClient(const std::string& endpoint);
  ~OrdinaryClient();  // ends its round; then it compacts what all have written

  void set_value_bytes(std::size_t bytes) { value_bytes_ = bytes; }  // from the next round on
  std::uint64_t rounds() const { return rounds_; }                   // that are over
  std::int64_t revision() const { return revision_; }                // of its last put
  const char* waits_for() const { return waits_for_; }

 private:
  // A watch of its key.
  struct Watching {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>> stream;
  };

  void run();
  void round();
  void put();
  void get();
  void hear();
  std::unique_ptr<Watching> watch();
  static void end(std::unique_ptr<Watching> watching);
  void compact();

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<etcdserverpb::KV::Stub> kv_;
  const std::unique_ptr<etcdserverpb::Watch::Stub> watches_;
  std::unique_ptr<Watching> watching_;
  std::string value_;
  std::atomic<std::size_t> value_bytes_{1'000};
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<std::int64_t> revision_{0};
  std::atomic<const char*> waits_for_{"nothing"};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace ingot::fuzz
