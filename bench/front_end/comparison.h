// Measures three servers in turns, and compares them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "bench/child_server.h"

namespace ingot::bench {

enum class Operation : std::uint8_t { kPut, kGetSerializable, kGetLinearizable };

const char* name_of(Operation operation);  // "put", "get_serializable", "get_linearizable"

struct Setting {
  Operation operation = Operation::kPut;
  int clients = 1;
  int connections = 1;
  int value_bytes = 64;
};

// One repetition against one server. Processor times are per request: that of the server's processes together, and that
// of this process, the client.
struct Sample {
  double per_s = 0;
  double p50_us = 0;
  double p99_us = 0;
  double server_cpu_us = 0;
  double client_cpu_us = 0;
};

struct Spread {
  double median = 0, least = 0, most = 0;
};
Spread spread_of(std::vector<double> values);

// The servers: ingotd, an empty handler on gRPC C++, and an empty handler on ingotd's own loop.
template <typename T>
struct OfEach {
  T ingot, empty, loop;
};

struct Comparison {
  Setting setting;
  OfEach<std::vector<Sample>> samples;  // equal indexes: measured one right after the other

  // Requests per second of one server divided by those of another, turn by turn.
  static Spread ratio(const std::vector<Sample>& of, const std::vector<Sample>& to);
};

// Puts every key once, so that gets find a value. An error if a put fails.
absl::Status put_keys(const ChildServer& server, int value_bytes);

// Measures each server `repetitions` times for `duration`; which one comes first changes from turn to turn.
absl::StatusOr<Comparison> compare(const Setting& setting, const OfEach<const ChildServer*>& servers, int repetitions,
                                   std::chrono::nanoseconds duration, absl::FunctionRef<void(const std::string&)> log);

}  // namespace ingot::bench
