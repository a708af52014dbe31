// Wrong requests of etcd's Lease, Lock and Election, reproducible from a seed.
#pragma once

#include <cstdint>
#include <string>

#include <google/protobuf/message.h>

#include "core/prng.h"
#include "proto/etcd/election.pb.h"

namespace ingot {

struct WrongRequest {
  std::string path;   // "/v3lockpb.Lock/Unlock"
  std::string bytes;  // the message
  std::string text;   // the same, to be printed
  bool readable = true;  // false: the bytes are no message of the method
};

// None of them waits. Some are answered without an error, since etcd takes them: an unlock of a key that is not there,
// a keep-alive of a lease that has ended. A few change something, as a right proclamation. Not thread-safe.
class WrongRequests {
 public:
  // What both servers have: this lease, which ends by no time, and this leader, whose lease it is.
  WrongRequests(std::uint64_t seed, std::int64_t lease, v3electionpb::LeaderKey leader)
      : prng_(seed), lease_(lease), leader_(std::move(leader)) {}

  WrongRequest next();

 private:
  WrongRequest of_leases();
  WrongRequest of_locks();
  WrongRequest of_elections();
  WrongRequest unreadable();
  std::int64_t unknown_lease();
  std::string name();
  v3electionpb::LeaderKey leader();

  Prng prng_;
  const std::int64_t lease_;
  const v3electionpb::LeaderKey leader_;
};

}  // namespace ingot
