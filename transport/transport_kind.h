// The transports by name: the values of --transport.
#pragma once

#include <array>
#include <cstdint>

namespace ingot::inline transport {

enum class TransportKind : std::uint8_t { kNvp, kSrbp };

constexpr std::array<const char*, 2> enum_names(TransportKind) { return {"nvp", "srbp"}; }

}  // namespace ingot::transport
