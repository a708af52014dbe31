// A client of etcd's API, with the few requests by which benchmarks prepare a server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/child_server.h"

namespace ingot::rpc::client {
class BlockingChannel;
}  // namespace ingot::rpc::client

namespace ingot::bench {

// One request at a time. Not thread-safe.
class KvClient {
 public:
  explicit KvClient(const std::string& endpoint);
  ~KvClient();

  // Returns the revision. Errors: UNAVAILABLE, with the server's message; the put may have been carried out even so.
  absl::StatusOr<std::int64_t> put(const std::string& key, const std::string& value);
  // Drops the history below this revision. Waits a second at most.
  absl::Status compact(std::int64_t revision);

 private:
  std::unique_ptr<rpc::client::BlockingChannel> channel_;
};

// Puts values of 64 KiB under new keys until there are this many MiB, with progress on standard error. A put that fails
// is repeated: a server that makes a snapshot of a large state may delay writes beyond a request's timeout. Errors:
// UNAVAILABLE if the server has ended or has acknowledged nothing for ten minutes.
absl::Status fill_mib(const ChildServer& server, int mib);

}  // namespace ingot::bench
