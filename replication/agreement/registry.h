// The agreements by their names.
#pragma once

#include <memory>
#include <string_view>

#include "replication/agreement/agreement.h"

namespace ingot {

// `kind`: "1paxos", "multipaxos" or "2pc"; null for any other name. `group` must be as GroupConfig requires (CHECK).
std::unique_ptr<Agreement> make_agreement(std::string_view kind, const GroupConfig& group);

}  // namespace ingot
