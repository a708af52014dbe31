// A lease that a verb keeps alive as long as it runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/etcd/rpc.pb.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/options.h"

namespace ingot::inline services_ingotctl {

// NOT_FOUND, and a sentence.
absl::Status no_lease(std::int64_t id);

// One keep-alive on a stream of its own. Errors: no_lease, and those of a call.
absl::StatusOr<etcdserverpb::LeaseKeepAliveResponse> keep_alive_once(const Connection& connection, std::int64_t id);

// A thread of its own keeps the lease alive. The lease is revoked with the session, so its keys go.
class LeaseSession {
 public:
  // `options` outlives it. Errors: those of a call.
  static absl::StatusOr<std::unique_ptr<LeaseSession>> open(const CtlOptions& options, std::chrono::nanoseconds ttl);
  ~LeaseSession();

  std::int64_t lease() const { return lease_; }
  // The lease has ended, or was not kept alive for its whole time, so that it may have ended. Stays so. Any thread.
  bool ended() const;

 private:
  using Clock = std::chrono::steady_clock;

  // `ends`: the lease lives until then at least.
  LeaseSession(std::unique_ptr<Connection> connection, std::int64_t lease, std::int64_t ttl_s, Clock::time_point ends);
  void keep_alive();
  bool ended_by_now() const;
  bool pause(std::chrono::milliseconds longest);

  const std::unique_ptr<Connection> connection_;  // the thread's, until it has ended
  const std::int64_t lease_;
  const std::int64_t ttl_s_;
  mutable std::mutex mutex_;
  mutable bool ended_ = false;  // guarded by mutex_
  Clock::time_point ends_;      // guarded by mutex_; counted from before the question, so no later than the daemon's
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ingot::services_ingotctl
