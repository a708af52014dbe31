// Reads a run's keys back and checks them against its ledger, and what watches and leases have shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/ingot_load/load_options.h"
#include "services/ingot_load/load_totals.h"
#include "services/ingot_load/write_ledger.h"

namespace ingot::load {

struct CheckReport {
  static constexpr std::size_t kExamplesMax = 5;

  std::uint64_t keys = 0;        // checked: those with an acknowledged write, and those found
  std::uint64_t lost = 0;        // keys that lost an acknowledged write
  std::uint64_t wrong = 0;       // keys that are wrong in another way
  std::uint64_t bad_reads = 0;   // reads during the run that were stale or corrupt
  std::uint64_t bad_watches = 0;   // events that were missing, doubled or out of order; watches that lag at the end
  std::uint64_t early_leases = 0;  // leases that ended though they were kept alive
  bool wrote_nothing = false;    // no write was acknowledged
  std::vector<std::string> examples;  // "key K lost an acknowledged write", at most kExamplesMax

  bool held() const {
    return lost == 0 && wrong == 0 && bad_reads == 0 && bad_watches == 0 && early_leases == 0 && !wrote_nothing;
  }
};

// Reads linearizably; while the server is away, retries for `patience`. An error, and no verdict, if the keys could not
// be read.
absl::StatusOr<CheckReport> check_store(const LoadOptions& options, const LoadTotals& totals,
                                        const WriteLedger& ledger, std::chrono::nanoseconds patience);

}  // namespace ingot::load
