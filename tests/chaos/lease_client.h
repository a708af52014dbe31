// A client of leases, keys and watches that knows when it asked and when it was answered: blocking, with its own
// connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include "proto/etcd/rpc.grpc.pb.h"
#include "tests/chaos/lease_records.h"

namespace ingot::chaos {

// Not thread-safe: one request at a time.
class LeaseClient {
 public:
  explicit LeaseClient(const std::string& endpoint);

  // Waits until there is a connection, for 50 ms at most.
  bool connected();

  // A lease of so many seconds, and nothing if there was no answer.
  std::optional<LeaseRecord> grant(std::int64_t ttl_s);
  // False: it has ended, or, if lease.refused_ns is still 0, there was no answer.
  bool keep_alive(LeaseRecord& lease);
  // No more may be known of its end than that it was asked for.
  void revoke(LeaseRecord& lease);

  // The revision; 0: it may have been put or not.
  std::int64_t put(const std::string& key, std::int64_t lease);
  void remove(LeaseRecord& lease);  // its key
  // The oldest key with the prefix; nothing: there was no answer. Linearizable.
  std::optional<std::string> oldest(const std::string& prefix);
  // The store's; 0: there was no answer.
  std::int64_t revision();

  grpc::Channel& channel() { return *channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<etcdserverpb::KV::Stub> keys_;
  std::unique_ptr<etcdserverpb::Lease::Stub> leases_;
};

// Watches the keys with a prefix from a revision on, and again from where it was when the connection is lost.
class Watcher {
 public:
  Watcher(const std::string& endpoint, std::string prefix, std::int64_t from)
      : endpoint_(endpoint), prefix_(std::move(prefix)), next_(from) {}

  // Until it has seen an event of `last_key`, or stop(). Nothing; or a sentence: the server ended the watch.
  std::string run(const std::string& last_key);
  // From any thread.
  void stop();

  SeenEvents events;  // once run() has returned

 private:
  // True: go on with another stream.
  bool run_once(const std::string& last_key, std::string& trouble);
  bool take(const etcdserverpb::WatchResponse& response, const std::string& last_key);

  const std::string endpoint_, prefix_;
  std::int64_t next_;  // revision
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards context_
  grpc::ClientContext* context_ = nullptr;
};

std::string end_of_prefix(std::string prefix);

}  // namespace ingot::chaos
