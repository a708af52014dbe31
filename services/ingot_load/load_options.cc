#include "services/ingot_load/load_options.h"

#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/stamped_value.h"

namespace ingot::load {
namespace {

absl::Status in_range(const char* flag, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, " must be from ", least, " to ", most, ", not ", value));
}

absl::Status validate_check(const LoadOptions& options) {
  if (!options.keep_ledger) return absl::OkStatus();
  if (options.read_share >= 1) {
    return absl::InvalidArgumentError("--check needs writes to check; use a --read-share below 1");
  }
  if (options.value_bytes < static_cast<int>(kStampBytes)) {
    return absl::InvalidArgumentError(absl::StrCat("--check needs room in each value to say who wrote it; use a "
                                                   "--value-bytes of at least ",
                                                   kStampBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status validate(const LoadOptions& options) {
  absl::Status status;
  status.Update(in_range("--clients", options.clients, 1, kLoadClientsMax));
  status.Update(in_range("--connections", options.connections, 1, kLoadConnectionsMax));
  status.Update(in_range("--threads", options.threads, 1, kLoadThreadsMax));
  status.Update(in_range("--keys", options.keys, 1, kLoadKeysMax));
  status.Update(in_range("--value-bytes", options.value_bytes, 0, kLoadValueBytesMax));
  status.Update(in_range("--watchers", options.watchers, 0, kLoadWatchersMax));
  status.Update(in_range("--leases", options.leases, 0, kLoadLeasesMax));
  if (options.lease_ttl < std::chrono::seconds(kLoadLeaseTtlSMin) ||
      options.lease_ttl > std::chrono::seconds(kLoadLeaseTtlSMax) ||
      options.lease_ttl % std::chrono::seconds(1) != std::chrono::nanoseconds::zero()) {
    status.Update(absl::InvalidArgumentError(absl::StrCat("--lease-ttl must be from ", kLoadLeaseTtlSMin, "s to ",
                                                          kLoadLeaseTtlSMax, "s, in whole seconds")));
  }
  status.Update(in_range("--count", options.count, 0, std::int64_t{1} << 50));
  if (!(options.read_share >= 0 && options.read_share <= 1)) {
    status.Update(absl::InvalidArgumentError("--read-share must be from 0 to 1, such as 0.9"));
  }
  if (!(options.rate_per_s >= 0 && options.rate_per_s <= 1e7)) {
    status.Update(absl::InvalidArgumentError("--rate must be from 0 (closed loop) to 10000000 requests a second"));
  }
  if (options.timeout < std::chrono::milliseconds(1) || options.timeout > std::chrono::hours(1)) {
    status.Update(absl::InvalidArgumentError("--timeout must be from 1ms to 1h"));
  }
  if (options.count == 0 && options.duration <= std::chrono::nanoseconds::zero()) {
    status.Update(absl::InvalidArgumentError("--duration must be longer than 0, such as 20s"));
  }
  if (options.clients < options.connections) {
    status.Update(absl::InvalidArgumentError(absl::StrCat("--connections must not be more than --clients (",
                                                          options.clients, "): each needs a client to use it")));
  }
  if (options.connections < options.threads) {
    status.Update(absl::InvalidArgumentError(absl::StrCat("--threads must not be more than --connections (",
                                                          options.connections, "): each needs one of its own")));
  }
  if (options.read_kind == ReadKind::kView && !unix_path(options.endpoint)) {
    status.Update(absl::InvalidArgumentError("--read-kind=view needs the instance's Unix socket, beside which its view "
                                             "socket is: --endpoint=unix:PATH"));
  }
  status.Update(validate_check(options));
  return status;
}

}  // namespace ingot::load
