// A caller as bytes, for a call that is passed on within the process.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "services/access/caller.h"

namespace ingot::inline services_access {

// The metadata key under which a passed-on call carries its caller. What a client sends under it is removed before the
// call is passed on, so only this process can set it. ("-bin": gRPC lets its value have any bytes.)
inline constexpr const char* kCallerKey = "ingot-caller-bin";

// Thread-safe, both.
std::string encode_caller(const Caller& caller);
// None: encode_caller() does not write such bytes.
std::optional<Caller> decode_caller(std::string_view bytes);

}  // namespace ingot::services_access
