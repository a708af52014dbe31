// Where the view socket of an instance may be, by what a program calls the instance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::inline client_ingot {

// As ingot_open (ingot.h) has it; reads the environment. At least one path, each of which fits a Unix socket. Errors:
// INVALID_ARGUMENT (no instance can be called so), NOT_FOUND ($INGOT_SOCKET is empty: no socket is to be looked for).
absl::StatusOr<std::vector<std::string>> view_sockets_of(std::string_view instance);

}  // namespace ingot::client_ingot
