// Assigns replicas and the gateway to simulated cores: a pure function of the flags.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "services/config/scc_config.h"

namespace ingot::inline services_scc {

struct ChipPlacement {
  std::vector<int> replicas;  // core by replica
  int gateway = 0;            // the core through which requests and answers pass

  std::vector<int> endpoints() const;  // replicas, then the gateway
};

// The cores given by flags. By default, each replica in turn is placed as far as possible from those before, the first
// on core 0, and the gateway on the free core that is nearest to all of them together. Errors: INVALID_ARGUMENT with
// one sentence (no such core; a core given twice; not as many cores as replicas; no core left).
absl::StatusOr<ChipPlacement> place_on_chip(const SccConfig& config, int replicas);

}  // namespace ingot::services_scc
