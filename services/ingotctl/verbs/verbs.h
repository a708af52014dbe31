// Runs ingotctl's verbs that need a daemon. Each prints to standard output and returns an error as one sentence.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"

namespace ingot {

struct StatusArguments {
  bool digests = false;
};
absl::Status run_status(const CtlOptions& options, const StatusArguments& arguments);

absl::Status run_topology(const CtlOptions& options);

struct WatchStatusArguments {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  int count = 0;  // end after this many answers; 0: never
};
// On a terminal it redraws a table; elsewhere it prints a line (or an object) for each answer.
absl::Status run_watch_status(const CtlOptions& options, const WatchStatusArguments& arguments);

// Selects one key, keys with a prefix, keys from one on, or keys from one up to another.
struct KeyArguments {
  std::string key;
  std::string range_end;
  bool prefix = false;
  bool from_key = false;
};

struct GetArguments {
  KeyArguments keys;
  std::int64_t limit = 0;
  std::int64_t revision = 0;
  bool keys_only = false;
  bool count_only = false;
  bool serializable = false;
};
absl::Status run_get(const CtlOptions& options, const GetArguments& arguments);

struct PutArguments {
  std::string key;
  std::optional<std::string> value;  // absent: all of standard input
  bool prev_kv = false;
};
absl::Status run_put(const CtlOptions& options, const PutArguments& arguments);

struct DelArguments {
  KeyArguments keys;
  bool prev_kv = false;
};
absl::Status run_del(const CtlOptions& options, const DelArguments& arguments);

}  // namespace ingot
