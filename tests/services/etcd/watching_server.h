// A server of etcd's API whose watches' events are kept for comparison with another's.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "proto/etcd/rpc.grpc.pb.h"
#include "tests/services/etcd/random_requests.h"

namespace ingot {

// What a watch has got.
struct WatchLog {
  struct Event {
    std::int64_t revision;
    std::string text;
    bool operator==(const Event&) const = default;
  };
  std::vector<Event> events;
  std::int64_t newest = 0;  // the last event's revision
  bool cut = false;         // the last response was a fragment with more to follow
  std::string ended;        // the response that ended it; empty: none
  std::string broken;       // what no server may do; empty: nothing
};

// One stream of watches, read by a thread of its own.
class WatchingStream {
 public:
  explicit WatchingStream(const std::shared_ptr<grpc::Channel>& channel);
  ~WatchingStream();

  // Sends a request whose answer is not waited for.
  void send(const etcdserverpb::WatchRequest& request);
  // Waits for the answer: that a watch was created or refused or canceled, or for progress. Its text, or what went
  // wrong.
  std::string ask(const etcdserverpb::WatchRequest& request);

  // The id of the last watch that was created; -1: it was refused.
  std::int64_t created_id() const { return created_id_; }

  // Waits until the watch has an event of at least this revision, or has ended. False: it took very long.
  [[nodiscard]] bool wait_for(std::int64_t id, std::int64_t revision);
  // Its events up to this revision, or all if it has ended. The others stay for the next time.
  WatchLog take(std::int64_t id, std::int64_t revision);

 private:
  void read();
  void note(const etcdserverpb::WatchResponse& response);
  static void note_events(WatchLog& log, const etcdserverpb::WatchResponse& response);

  std::unique_ptr<etcdserverpb::Watch::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>> call_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, WatchLog> logs_;  // guarded by mutex_
  std::vector<std::string> answers_;       // guarded by mutex_; not asked for yet
  bool over_ = false;                      // guarded by mutex_
  std::int64_t last_created_ = -1;         // guarded by mutex_
  std::int64_t created_id_ = -1;
  std::thread reader_;
};

class WatchingServer {
 public:
  WatchingServer(const std::string& endpoint, int streams);

  // The store's revision afterwards if the request was carried out; its error's text otherwise.
  struct Outcome {
    std::int64_t revision = 0;
    std::string error;
    bool operator==(const Outcome&) const = default;
  };
  Outcome carry_out(const KvRequest& request);

  WatchingStream& stream(int index) { return *streams_[static_cast<std::size_t>(index)]; }
  void reopen(int index);

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<etcdserverpb::KV::Stub> kv_;
  std::unique_ptr<etcdserverpb::Lease::Stub> lease_;
  std::vector<std::unique_ptr<WatchingStream>> streams_;
};

}  // namespace ingot
