// The parameters of a load, and their check.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "services/ingot_load/key_chooser.h"

namespace ingot::load {

enum class ReadKind : std::uint8_t {
  kSerializable,
  kLinearizable,
  kView,  // in place, from the instance's view; writes go to the endpoint
};
constexpr std::array<const char*, 3> enum_names(ReadKind) { return {"serializable", "linearizable", "view"}; }

struct LoadOptions {
  std::string endpoint = "127.0.0.1:2379";
  int clients = 8;      // each has at most one request outstanding
  int connections = 1;  // clients are spread over them
  int threads = 1;      // connections and clients are spread over them
  int keys = 1000;
  Distribution distribution = Distribution::kUniform;
  int value_bytes = 64;
  double read_share = 0.5;  // of all requests, 0 to 1
  ReadKind read_kind = ReadKind::kLinearizable;
  std::int64_t count = 0;                // requests in all; 0: as many as fit into the duration
  std::chrono::nanoseconds duration{};   // used if count is 0
  double rate_per_s = 0;                 // open loop: requests started each second; 0: closed loop
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);  // of one request, and of the first connection
  std::uint64_t seed = 1;
  int watchers = 0;         // watches that are open meanwhile
  int leases = 0;           // that are kept alive meanwhile
  std::chrono::nanoseconds lease_ttl = std::chrono::seconds(60);  // whole seconds
  std::string prefix;       // of all keys
  std::uint32_t run = 0;    // in every value: tells this run's values from others'; random
  bool keep_ledger = false;  // record what is written, and check what is read
};

// InvalidArgument, with a sentence that names the flag and its range.
absl::Status validate(const LoadOptions& options);

}  // namespace ingot::load
