// Effects as text, one line each, in the order of their execution.
#pragma once

#include <string>
#include <string_view>

#include "replication/agreement/agreement.h"

namespace ingot::testing {

// "Accept epoch 1 ballot 1 slot 0 `a`"; "malformed" if it does not decode.
std::string describe_message(std::string_view bytes);

// The replica's effects, "0 -> 1  Accept ...", "1 decides slot 0 `a`", ..., each line with a newline at its end.
std::string describe_effects(int replica, const Effects& effects);

std::string describe_status(const AgreementStatus& status);

// "waits for replica 0: the leader does not answer, ...": what the next decision waits for, however short.
std::string describe_waiting(const AgreementStatus& status);

}  // namespace ingot::testing
