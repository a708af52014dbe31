// A connection to a server that speaks etcd's API, with the few requests that benchmarks make to prepare one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/child_server.h"

namespace ingot::bench {

// One request at a time. Not thread-safe.
class KvClient {
 public:
  explicit KvClient(const std::string& endpoint);
  ~KvClient();

  // Returns the revision. Errors: UNAVAILABLE, with the server's word; the put may be carried out even so.
  absl::StatusOr<std::int64_t> put(const std::string& key, const std::string& value);
  // Below this revision no history is kept. Waits a second at most.
  absl::Status compact(std::int64_t revision);

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

// Puts values of 64 KiB under keys of their own, until there are so many MiB, and tells on standard error how far it is.
// A put that fails is made again: a server that makes a snapshot of much state lets writes wait for longer than a request
// does. Errors: UNAVAILABLE: the server has ended, or has acknowledged nothing for ten minutes.
absl::Status fill(const ChildServer& server, int mib);

}  // namespace ingot::bench
