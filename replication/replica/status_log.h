// Lines for the operator's log about a replica's agreement: one for each event, not one for each observation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/types.h"
#include "replication/agreement/agreement.h"

namespace ingot::inline replication_replica {

// Sentences without a program's name or a line's end. Not thread-safe.
class StatusLog {
 public:
  // `log` may be empty: then nothing is logged.
  StatusLog(EndpointId self, std::function<void(const std::string&)> log);

  // The status now, at `now_ns` of a steady clock. Logs a line when agreement becomes blocked, at each change of the
  // cause, and when it is no longer blocked.
  void observe(const AgreementStatus& status, std::uint64_t now_ns);

  void suspected(EndpointId replica);
  // `killed`: its process was alive and was sent SIGKILL.
  void fenced(ReplicaIncarnation name, bool killed);

 private:
  void log(const std::string& what) const;

  const EndpointId self_;
  const std::function<void(const std::string&)> log_;
  bool blocked_ = false;
  Blocked why_ = Blocked::kNo;
  ReplicaSet by_;
  std::uint64_t blocked_since_ns_ = 0;  // for any cause
};

}  // namespace ingot::replication_replica
