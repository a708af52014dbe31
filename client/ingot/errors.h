// Which ingot_error stands for what the reader, its tickets and the view socket say.
#pragma once

#include "absl/status/status.h"
#include "client/ingot/ingot.h"
#include "replication/view/handle/view_error.h"

namespace ingot::inline client_ingot {

// Of a ticket that was not given, or led to no view. REQUIRES: not OK.
ingot_error error_of_refusal(const absl::Status& refusal);

// Of a read. `refusal`: of the last ticket. `closed`: the instance was stopped in order.
ingot_error error_of_read(ViewError error, const absl::Status& refusal, bool closed);

}  // namespace ingot::client_ingot
