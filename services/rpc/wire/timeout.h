// grpc-timeout: how long a caller waits, as digits and a unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::rpc::inline wire {

// In nanoseconds, at most the largest std::uint64_t (some 584 years). Without value: not one to eight digits followed
// by one of H, M, S (hours, minutes, seconds), m, u, n (thousandths of a second, and so on).
std::optional<std::uint64_t> parse_timeout(std::string_view text);

// The shortest unit that holds the time in eight digits; it is rounded up.
std::string format_timeout(std::uint64_t timeout_ns);

}  // namespace ingot::rpc::wire
