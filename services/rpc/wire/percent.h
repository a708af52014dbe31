// Percent-encoding of grpc-message.
#pragma once

#include <string>
#include <string_view>

namespace ingot::rpc::inline wire {

// All bytes but printable ASCII without '%' become %XX.
std::string percent_encode(std::string_view text);

// A '%' without two hexadecimal digits stays as it is.
std::string percent_decode(std::string_view text);

}  // namespace ingot::rpc::wire
