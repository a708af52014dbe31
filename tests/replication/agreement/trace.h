// Effects as text, a line each, in the order in which they are executed.
#pragma once

#include <string>
#include <string_view>

#include "replication/agreement/agreement.h"

namespace ingot::testing {

// "Accept epoch 1 ballot 1 slot 0 `a`"; "malformed" if it does not decode.
std::string describe_message(std::string_view bytes);

// "0 -> 1  Accept ...", "1 decides slot 0 `a`", ...: what the replica did, each line ending in a newline.
std::string describe_effects(int replica, const Effects& effects);

std::string describe_status(const AgreementStatus& status);

}  // namespace ingot::testing
