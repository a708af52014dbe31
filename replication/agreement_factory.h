// The agreements by name.
#pragma once

#include <memory>
#include <string_view>

#include "replication/agreement.h"

namespace ingot {

// "1paxos", "multipaxos" or "2pc"; null for any other name. `group` must be as GroupConfig requires (CHECK).
std::unique_ptr<Agreement> make_agreement(std::string_view kind, const GroupConfig& group);

// Whether a new life of that agreement inherits its predecessor's votes for slots, not only those for configurations. If not,
// votes are history: Agreement::reads_history.
bool inherits_votes(std::string_view kind);

}  // namespace ingot
